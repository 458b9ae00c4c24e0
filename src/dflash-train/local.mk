bin_PROGRAMS += dflash-train
dflash_train_SOURCES = src/dflash-train/captures.c \
  src/dflash-train/captures.h src/dflash-train/captures_expand.c \
  src/dflash-train/captures_open.c src/dflash-train/captures_private.h \
  src/dflash-train/identity.c src/dflash-train/init.c \
  src/dflash-train/main.c src/dflash-train/metrics.c \
  src/dflash-train/metrics.h src/dflash-train/models.c \
  src/dflash-train/options.c src/dflash-train/options.h \
  src/dflash-train/output.c src/dflash-train/output.h \
  src/dflash-train/report.c src/dflash-train/run.c \
  src/dflash-train/samples.c src/dflash-train/session.h \
  src/dflash-train/spool.c src/dflash-train/trial.c src/dflash-train/trial.h \
  src/dflash-train/watch.c
dflash_train_CPPFLAGS = $(tool_cppflags) $(JANSSON_CFLAGS)
dflash_train_LDADD = $(tool_ldadd) $(JANSSON_LIBS)
