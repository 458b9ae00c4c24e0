dflashinclude_HEADERS += include/dflash/check.h include/dflash/record.h
lib_libcore_la_SOURCES += lib/store/check.c
