lib_libcore_la_SOURCES += lib/draft/anchors.c lib/draft/anchors_internal.h \
  lib/draft/batch.c lib/draft/blocks.c lib/draft/draw_internal.h \
  lib/draft/order.c lib/draft/order_internal.h lib/draft/plan.c
