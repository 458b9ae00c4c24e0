## Every public header compiles alone.
tool_tests += tests/tool/headers.sh

## A tool that has nothing but options.
check_PROGRAMS += tests/tool/option-demo
tests_tool_option_demo_SOURCES = tests/tool/option-demo.c
tests_tool_option_demo_CPPFLAGS = $(tool_cppflags)
tests_tool_option_demo_LDADD = $(tool_ldadd)
tool_tests += tests/tool/options.sh
