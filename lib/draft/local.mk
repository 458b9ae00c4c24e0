dflashinclude_HEADERS += include/dflash/checkpoint.h \
  include/dflash/drafter.h
lib_libcore_la_SOURCES += lib/draft/anchors.c lib/draft/anchors_internal.h \
  lib/draft/backward.c lib/draft/batch.c lib/draft/blocks.c lib/draft/cache.c \
  lib/draft/cache_internal.h \
  lib/draft/checkpoint.c lib/draft/checkpoint_internal.h \
  lib/draft/checkpoint_state.c \
  lib/draft/draw_internal.h lib/draft/drafter.c lib/draft/drafter_internal.h \
  lib/draft/forward.c lib/draft/loss.c lib/draft/order.c \
  lib/draft/order_internal.h lib/draft/pad.c lib/draft/params.c \
  lib/draft/pass.c lib/draft/plan.c \
  lib/draft/step.c lib/draft/weights_io.c
