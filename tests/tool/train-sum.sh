# The same four samples make the same step, however they are dealt to
# batches and to drafters: gradients are summed, then divided once.  A mean
# of means would differ, as the samples have unlike lengths.
. "$abs_top_srcdir/tests/tool/train.sh"
plan 27

conversations 1 4 > data.jsonl
run='--epochs 3 --token-budget 256'
# near A B: losses and gradient norms of all steps within 1e-5 of each other.
numbers () {
  sed -n 's/.*"step":\([0-9]*\),.*"loss":\([^,]*\),.*"grad_norm":\([^,}]*\).*/\1 \2 \3/p' \
    "$1/metrics.jsonl"
}
near () {
  numbers "$1" > a; numbers "$2" > b
  paste -d' ' a b | awk '
    function far(x, y, d) { d = x - y; return d * d > 1e-10 * x * x }
    { print "#", $0 }
    $1 != $4 || $2 == 0 || $3 == 0 || far($2, $5) || far($3, $6) { bad = 1 }
    END { exit bad || NR != 3 }' > near.out && return
  cat near.out; return 1
}

for loss in dflash dpace; do
  ok "$loss: four samples in a batch" \
    trains 0 whole-$loss $run --loss $loss --max-batch-size 4
  while IFS='|' read -r label options; do
    ok "$loss: $label" trains 0 o $run --loss $loss --overwrite $options
    ok '  make the same steps' near whole-$loss o
  done <<'END_OF'
two batches of two|--max-batch-size 2 --accumulate 2
four batches of one|--max-batch-size 1 --accumulate 4
two batches on two drafters|--max-batch-size 2 --drafter-devices cpu:0,cpu:1
four batches on two drafters|--max-batch-size 1 --accumulate 2 --drafter-devices cpu:0,cpu:1
four batches on four drafters|--max-batch-size 1 --drafter-devices cpu:0,cpu:1,cpu:2,cpu:1
END_OF
done

# Drafters race, and the last step has no batch for some of them.
conversations 1 7 > data.jsonl
run='--epochs 2 --max-batch-size 1 --accumulate 2 --noise 0.1'
run="$run --drafter-devices cpu:0,cpu:1,cpu:2 --save-interval 2"
ok 'three drafters, 14 batches' trains 0 three $run
ok '  three steps' test "`steps_of three`" = '1 2 3 '
check () {
  DFLASH_FAULT=drafter=stall:60,target=stall:30 trains 0 o $run --overwrite \
    --target-devices cpu:1,cpu:0 && alike three o
}
ok 'the same bits, however they race' check
check () {
  DFLASH_FAULT=drafter=stall:60,copy=stall:30 trains 0 o $run --overwrite \
    --target-devices cpu:1,cpu:0 --transport peer && alike three o
}
ok 'the same bits, copied from device to device' check
cp -r three o2; rm -r o2/checkpoints/step-3 o2/drafter
check () { trains 0 o2 $run --resume && alike three o2; }
ok 'the same bits, resumed' check
