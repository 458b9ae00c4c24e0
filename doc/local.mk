info_TEXINFOS += doc/dflash.texi
EXTRA_DIST += doc/benchmarks.md doc/internals/batch-plan.md \
  doc/internals/bench.md doc/internals/build.md \
  doc/internals/checkpoint.md doc/internals/data.md \
  doc/internals/decode.md doc/internals/ops.md \
  doc/internals/options.md doc/internals/pipeline.md \
  doc/internals/shapes.md doc/internals/template.md \
  doc/internals/tokenizer.md

## The pages on file formats are written by hand.
dist_man_MANS += doc/dflash-hdf5.5 doc/dflash-stream.5

## The man pages, each from its tool's --help and doc/TOOL.x.  To add one,
## name it and what it is made from.
man_pages = doc/dflash-bench.1 doc/dflash-capture.1 doc/dflash-inspect.1 \
  doc/dflash-train.1
doc/dflash-bench.1: dflash-bench$(EXEEXT)
doc/dflash-capture.1: dflash-capture$(EXEEXT)
doc/dflash-inspect.1: dflash-inspect$(EXEEXT)
doc/dflash-train.1: dflash-train$(EXEEXT)
dist_man_MANS += $(man_pages)
EXTRA_DIST += $(man_pages:.1=.x)
MAINTAINERCLEANFILES = $(man_pages)

## The tarball has the pages, so help2man is needed only after a change;
## without it, the distributed page stays.
SUFFIXES += .x .1
.x.1:
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)if $(HELP2MAN) --version >/dev/null 2>&1; then \
	  $(HELP2MAN) --info-page=dflash --include=$< --output=$@ ./$(*F)$(EXEEXT); \
	elif test -f $(srcdir)/$@; then \
	  cp $(srcdir)/$@ $@.t && mv $@.t $@; \
	else echo "$@: needs help2man" >&2; exit 1; fi
