bin_PROGRAMS += dflash-bench
bench_sources = src/dflash-bench/baseline.c src/dflash-bench/baseline.h \
  src/dflash-bench/bench.c src/dflash-bench/bench.h \
  src/dflash-bench/capture.c src/dflash-bench/compare.c \
  src/dflash-bench/copy.c src/dflash-bench/copy.h \
  src/dflash-bench/copy_buffers.c src/dflash-bench/copy_buffers.h \
  src/dflash-bench/copy_load.c src/dflash-bench/feed.c \
  src/dflash-bench/feed.h src/dflash-bench/forward.c \
  src/dflash-bench/forward.h src/dflash-bench/forward_pass.c \
  src/dflash-bench/header.c src/dflash-bench/json.c src/dflash-bench/live.c \
  src/dflash-bench/live.h src/dflash-bench/live_reference.c \
  src/dflash-bench/load.c src/dflash-bench/load.h src/dflash-bench/main.c \
  src/dflash-bench/ops.c src/dflash-bench/options.c \
  src/dflash-bench/options.h src/dflash-bench/pack.c \
  src/dflash-bench/packing.c src/dflash-bench/packing.h \
  src/dflash-bench/pipeline.c src/dflash-bench/plot.c \
  src/dflash-bench/postprocess.c src/dflash-bench/print.c \
  src/dflash-bench/result.c src/dflash-bench/result.h \
  src/dflash-bench/sampler.c src/dflash-bench/sampler.h \
  src/dflash-bench/scene.c src/dflash-bench/scene.h \
  src/dflash-bench/spec.c src/dflash-bench/spec.h \
  src/dflash-bench/spec_decode.c src/dflash-bench/spec_prompts.c \
  src/dflash-bench/stats.c src/dflash-bench/stats.h src/dflash-bench/step.c \
  src/dflash-bench/step.h src/dflash-bench/step_parts.c \
  src/dflash-bench/step_run.c src/dflash-bench/suites.c \
  src/dflash-bench/svg.c src/dflash-bench/svg.h src/dflash-bench/sweep.c \
  src/dflash-bench/workload.c src/dflash-bench/workload.h
dflash_bench_SOURCES = $(bench_sources)
dflash_bench_CPPFLAGS = $(tool_cppflags) $(JANSSON_CFLAGS)
dflash_bench_LDADD = src/opcases/libopcases.la $(tool_ldadd) \
  $(JANSSON_LIBS)
