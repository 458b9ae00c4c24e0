## The demo's target, its data and the script that trains a drafter with
## them.
demodir = $(pkgdatadir)/demo
dist_demo_DATA = share/demo/heldout.jsonl share/demo/train.jsonl
dist_demo_SCRIPTS = share/demo/run
demotargetdir = $(demodir)/target
dist_demotarget_DATA = share/demo/target/config.json \
  share/demo/target/model.safetensors share/demo/target/tokenizer.json \
  share/demo/target/tokenizer_config.json

## Shapes of models, for --target random:FILE.
shapesdir = $(pkgdatadir)/shapes
dist_shapes_DATA = share/shapes/qwen3-0.6b.json share/shapes/qwen3-4b.json \
  share/shapes/qwen3-8b.json share/shapes/qwen3-32b.json

## It takes a folder, not the options of the tools.
AM_INSTALLCHECK_STD_OPTIONS_EXEMPT = share/demo/run
