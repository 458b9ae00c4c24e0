## One row a test.
EXTRA_DIST += tests/unit/inspect/samples.h

unit_tests += tests/unit/inspect/scan.t
tests_unit_inspect_scan_t_SOURCES = tests/unit/inspect/scan.c

unit_tests += tests/unit/inspect/scan_tokens.t
tests_unit_inspect_scan_tokens_t_SOURCES = tests/unit/inspect/scan_tokens.c

unit_tests += tests/unit/inspect/compare.t
tests_unit_inspect_compare_t_SOURCES = tests/unit/inspect/compare.c
