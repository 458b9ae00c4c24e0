# The same seed gives the same run, bit by bit, however the work is placed
# and however the threads race; another seed doesn't.
. "$abs_top_srcdir/tests/tool/train.sh"

# Two epochs, with noise, which must not depend on who adds it.
run='--epochs 2 --noise 0.1 --prefetch-threads 1'
plan 29
ok 'a run' trains 0 base $run
ok '  of 12 steps' \
  test "`steps_of base`" = '1 2 3 4 5 6 7 8 9 10 11 12 '
ok '  of which no step was skipped' \
  test `grep -c skipped base/metrics.jsonl` = 0
ok '  and which moved the losses' sh -c 'test `
  sed -n "s/.*\"loss\":\([^,]*\),.*/\1/p" base/metrics.jsonl | sort -u | wc -l
  ` = 12'

while IFS='|' read -r label faults options; do
  check () {
    DFLASH_FAULT=$faults trains 0 o $run $options --overwrite && alike base o
  }
  ok "the same with $label" check
done <<'END_OF'
4 prefetch threads||--prefetch-threads 4
2 targets||--target-devices cpu:0,cpu:1
3 targets on one device||--target-devices cpu:0,cpu:0,cpu:0
the drafter on another device||--drafter-devices cpu:1 --transport host
3 batches in flight||--transport host --target-postprocess-depth 3
the layers packed side by side||--no-split-fc-layers
the layers packed side by side, copied||--no-split-fc-layers --transport host
copies through host memory||--transport host
no copy||--transport local
copies from device to device||--transport peer --drafter-devices cpu:1
the layers packed side by side, from device to device||--no-split-fc-layers --transport peer --drafter-devices cpu:1
10 batches before the first step||--min-ready 10
1 batch before the first step||--min-ready 1
no cache of tokens||--cache 0 --prefetch-threads 4
evaluations between||--eval-data data.jsonl --eval-interval 4 --metrics e.jsonl
memory that holds NaN|memory=poison|--transport host
a slow prefetch|prefetch=stall:60|--prefetch-threads 4
a slow target|target=stall:60|--target-devices cpu:0,cpu:1 --min-ready 1
slow copies|copy=stall:60,postprocess=stall:40|--transport host --target-postprocess-depth 3 --target-devices cpu:0,cpu:1
slow copies from device to device|copy=stall:60,postprocess=stall:40,memory=poison|--transport peer --target-postprocess-depth 3 --target-devices cpu:0,cpu:1 --drafter-devices cpu:2
a slow drafter|drafter=stall:60,log=stall:30|--transport host --target-postprocess-depth 2 --prefetch-threads 4
all of it|prefetch=stall:30,target=stall:30,copy=stall:30,drafter=stall:30|--prefetch-threads 4 --target-devices cpu:0,cpu:1 --target-postprocess-depth 3 --no-split-fc-layers
END_OF
check () {
  trains 0 o $run --seed 43 --overwrite
  metrics base > a; metrics o > b; ! cmp -s a b
}
ok 'another seed gives another run' check

ok 'on one device nothing is copied' chosen local $run
ok 'devices that reach each other copy to each other' \
  chosen peer $run --drafter-devices cpu:1
