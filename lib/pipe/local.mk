dflashinclude_HEADERS += include/dflash/pipe.h include/dflash/train.h
lib_libcore_la_SOURCES += lib/pipe/capture.c lib/pipe/channel.c \
  lib/pipe/fence.c lib/pipe/fence_internal.h lib/pipe/forward.c \
  lib/pipe/lane.c lib/pipe/live.c lib/pipe/log.c lib/pipe/offline.c \
  lib/pipe/pipe.c lib/pipe/pipe_internal.h lib/pipe/postprocess.c \
  lib/pipe/prefetch.c lib/pipe/run.c lib/pipe/run_internal.h \
  lib/pipe/run_stats.c lib/pipe/save.c lib/pipe/setup.c lib/pipe/slot.c \
  lib/pipe/slot_internal.h lib/pipe/state.c lib/pipe/step.c \
  lib/pipe/trial.c lib/pipe/warmup.c lib/pipe/worker.c
