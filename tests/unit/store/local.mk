store_fixture = tests/unit/store/fixture.c tests/unit/store/fixture.h
unit_tests += tests/unit/store/check.t
tests_unit_store_check_t_SOURCES = tests/unit/store/check.c \
  $(store_fixture)
unit_tests += tests/unit/store/header.t
tests_unit_store_header_t_SOURCES = tests/unit/store/header.c \
  $(store_fixture)
unit_tests += tests/unit/store/hdf5.t
tests_unit_store_hdf5_t_SOURCES = tests/unit/store/hdf5.c \
  $(store_fixture)
unit_tests += tests/unit/store/crash.t
tests_unit_store_crash_t_SOURCES = tests/unit/store/crash.c \
  $(store_fixture)
unit_tests += tests/unit/store/stream.t
tests_unit_store_stream_t_SOURCES = tests/unit/store/stream.c \
  $(store_fixture)
unit_tests += tests/unit/store/pass.t
tests_unit_store_pass_t_SOURCES = tests/unit/store/pass.c \
  $(store_fixture)
unit_tests += tests/unit/store/folder.t
tests_unit_store_folder_t_SOURCES = tests/unit/store/folder.c \
  $(store_fixture)
unit_tests += tests/unit/store/captures.t
tests_unit_store_captures_t_SOURCES = tests/unit/store/captures.c \
  $(store_fixture)

## Damaged headers: some here, and by check-fuzz as many as fit in a minute or
## two.
unit_tests += tests/unit/store/fuzz.t
tests_unit_store_fuzz_t_SOURCES = tests/unit/store/fuzz.c \
  $(store_fixture)
.PHONY: check-fuzz
check-fuzz: tests/unit/store/fuzz.t
	DFLASH_FUZZ=20000 tests/unit/store/fuzz.t
