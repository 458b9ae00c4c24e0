nobase_include_HEADERS += include/dflash/data.h
lib_libcore_la_SOURCES += lib/text/dataset.c lib/text/dataset_internal.h \
  lib/text/index.c lib/text/jsonl.c lib/text/jsonl_internal.h \
  lib/text/lossmask.c lib/text/lossmask_internal.h lib/text/reader.c \
  lib/text/record_ids.c lib/text/records.c lib/text/records_internal.h
