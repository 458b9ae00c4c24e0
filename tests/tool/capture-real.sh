# Models and prompts that weren't made for these tests: captured to a file or
# into a pipe and trained on, they give the losses of live training.
. "$abs_top_srcdir/tests/tool/train.sh"
. "$abs_top_srcdir/tests/tool/capture.sh"
prompts=$shared/data/gsm8k/test.jsonl
test -f "$prompts" || skip_all "no $prompts: set DFLASH_SHARED"
models=
for m in tiny stories260K-hf; do
  test -d "$shared/models/$m" && models="$models $m"
done
test -n "$models" || skip_all "no models in $shared/models: set DFLASH_SHARED"
plan `expr 9 '*' \`echo $models | wc -w\``

head -n 24 "$prompts" |
  sed 's/^{"question": /{"prompt": /; s/, "answer": /, "completion": /' \
    > data.jsonl
both='--max-length 256 --token-budget 1024'
train_only='--num-draft-layers 1 --block-size 4 --num-anchors 16 --noise 0.1'
for m in $models; do
  target=$shared/models/$m
  small="$both --num-draft-layers 1" tiny=$train_only
  # It has no token to spare.
  test $m = stories260K-hf && tiny="$tiny --mask-token-id 0"
  ok "$m: live" trains 0 live-$m $both
  ok "$m: captured" captures 0 $m.h5
  ok '  and trained on' offline 0 file-$m $m.h5 $both
  ok '  as live' alike live-$m file-$m
  ok "$m: through a pipe" piped pipe-$m ''
  ok '  as live' alike live-$m pipe-$m
  ok '  inspected' run 0 dflash-inspect $m.h5
  between='dflash-inspect --pass -'
  ok "$m: inspected in the pipe" piped passed-$m ''
  between=cat
  ok '  as live' alike live-$m passed-$m
done
