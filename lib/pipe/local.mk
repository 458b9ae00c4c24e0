lib_libcore_la_SOURCES +=
