## One row a test.
