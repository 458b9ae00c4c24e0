## Every public header compiles alone.
tool_tests += tests/tool/headers.sh
