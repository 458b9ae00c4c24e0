# On two GPUs: the same seed gives the same run, bit by bit, wherever targets
# and drafters are and however hidden states go from one to the other.
. "$abs_top_srcdir/tests/tool/train.sh"
want_gpu_
test -e /dev/nvidia1 || skip_all 'one GPU alone here'

run='--epochs 2 --noise 0.1'
plan 18
# same LABEL AS FAULTS OPTION...: such a run is like the run AS.
same () {
  label=$1; as=$2; faults=$3; shift 3
  check () {
    DFLASH_FAULT=$faults trains 0 o $run "$@" --overwrite && alike $as o
  }
  ok "the same with $label" check "$@"
}

ok 'a run on one GPU' \
  trains 0 base $run --target-devices cuda:0 --drafter-devices cuda:0
while IFS='|' read -r label faults options; do
  same "$label" base "$faults" $options
done <<'END_OF'
the other GPU||--target-devices cuda:1 --drafter-devices cuda:1
a GPU each||--target-devices cuda:0 --drafter-devices cuda:1
a GPU each, the other way||--target-devices cuda:1 --drafter-devices cuda:0
a GPU each, by peer copies||--target-devices cuda:0 --drafter-devices cuda:1 --transport peer
peer copies, packed side by side||--target-devices cuda:0 --drafter-devices cuda:1 --transport peer --no-split-fc-layers
peer copies, graphs||--target-devices cuda:0 --drafter-devices cuda:1 --transport peer --compile-drafter
through the host||--target-devices cuda:0 --drafter-devices cuda:1 --transport host
through the host, graphs||--target-devices cuda:0 --drafter-devices cuda:1 --transport host --compile-drafter
a target on each||--target-devices cuda:0,cuda:1 --drafter-devices cuda:1
slow peer copies|copy=stall:40,postprocess=stall:40|--target-devices cuda:0 --drafter-devices cuda:1 --transport peer --target-postprocess-depth 3
memory that holds NaN|memory=poison|--target-devices cuda:0 --drafter-devices cuda:1 --transport peer
END_OF

ok 'GPUs copy to each other where nothing else is asked for' \
  chosen peer $run --target-devices cuda:0 --drafter-devices cuda:1
ok 'two drafters on one GPU' trains 0 two $run --target-devices cuda:0 \
  --drafter-devices cuda:0,cuda:0
while IFS='|' read -r label faults options; do
  same "$label" two "$faults" $options
done <<'END_OF'
a drafter on each||--target-devices cuda:0 --drafter-devices cuda:0,cuda:1
both on each||--target-devices cuda:0,cuda:1 --drafter-devices cuda:0,cuda:1
both on each, graphs||--target-devices cuda:0,cuda:1 --drafter-devices cuda:0,cuda:1 --compile-drafter
both on each, slow|drafter=stall:40,target=stall:30|--target-devices cuda:0,cuda:1 --drafter-devices cuda:1,cuda:0 --transport host
END_OF
