# On a GPU, too, the same seed gives the same run, bit by bit, however the
# work is placed and however it is held up; and captures are clean.
. "$abs_top_srcdir/tests/tool/train.sh"
want_gpu_

run='--epochs 2 --noise 0.1 --target-devices cuda:0 --drafter-devices cuda:0'
plan 17
ok 'a run' trains 0 base $run
ok '  of 12 steps' \
  test "`steps_of base`" = '1 2 3 4 5 6 7 8 9 10 11 12 '
ok '  of which no step was skipped' \
  test `grep -c skipped base/metrics.jsonl` = 0
ok '  and which allocated nothing after warming up' \
  grep -q '^allocations after warm-up: 0$' out

while IFS='|' read -r label faults options; do
  check () {
    DFLASH_FAULT=$faults trains 0 o $run $options --overwrite && alike base o
  }
  ok "the same with $label" check
done <<'END_OF'
the same options||
graphs||--compile-drafter
graphs and copies||--compile-drafter --transport host
2 targets||--target-devices cuda:0,cuda:0
3 batches in flight||--transport host --target-postprocess-depth 3
the layers packed side by side||--no-split-fc-layers
the layers packed side by side, copied||--no-split-fc-layers --transport host
memory that holds NaN|memory=poison|--transport host
memory that holds NaN, and graphs|memory=poison|--compile-drafter
slow copies|copy=stall:60,postprocess=stall:40|--transport host --target-postprocess-depth 3
END_OF

capture='--target-devices cuda:0 --token-budget 128 --max-length 64
--target-layer-ids 1,3'
check () {
  DFLASH_FAULT=copy=stall:30,postprocess=stall:20 dflash-capture \
    --target "$target" --data data.jsonl -o slow.h5 $capture \
    --target-postprocess-depth 3 > out 2> err ||
    { sed 's/^/# /' err; return 1; }
}
ok 'a capture whose copies are slow' check
ok '  is clean, its checks being those that the CPU finds' \
  run 0 dflash-inspect slow.h5
check () {
  dflash-capture --target "$target" --data data.jsonl -o fast.h5 $capture \
    > out 2> err && run 0 dflash-inspect --compare fast.h5 slow.h5
}
ok '  and like one whose copies are not' check
