# Sourced by tests/tool/train-*.sh: small runs of dflash-train, on the demo's
# target and on conversations of a few words, in the scratch folder.
. "$abs_top_srcdir/tests/init.sh"
unset DFLASH_FAULT DFLASH_CONFIG
target=$abs_top_srcdir/share/demo/target

# conversations FIRST LAST: records of unlike lengths, on standard output.
conversations () {
  awk -v i="$1" -v last="$2" 'BEGIN {
    for (; i <= last; i++) {
      answer = ""
      for (k = 0; k <= i * 7 % 5; k++)
        answer = answer " It is " 3 * i + k "."
      printf "{\"messages\": [{\"role\": \"user\", \"content\": \"How " \
        "many is %d?\"}, {\"role\": \"assistant\", \"content\": " \
        "\"%s\"}]}\n", i, answer
    }
  }'
}
conversations 1 12 > data.jsonl

# Options that make a step take milliseconds; 6 steps an epoch.
tiny='--num-draft-layers 1 --block-size 4 --num-anchors 4 --max-length 64
--token-budget 128 --max-batch-size 2 --min-ready 2'
# train OUTPUT OPTION...: status as it comes; out and err are as of run.
train () {
  into=$1; shift
  dflash-train --target "$target" --data data.jsonl --output "$into" $tiny \
    "$@" > out 2> err
}
# trains STATUS OUTPUT OPTION...: true if it exits with STATUS.
trains () {
  want=$1; shift
  train "$@"; got=$?
  test $got = "$want" && return
  echo "# train $*: exit status $got, wanted $want"
  sed 's/^/# /' err; return 1
}
# chosen TRANSPORT OPTION...: that is what auto comes to.
chosen () {
  how=$1; shift
  trains 0 o --max-steps 1 --stats --overwrite "$@" \
    && grep -qx "transport: $how" out
}
# trains_with FAULTS STATUS OUTPUT OPTION...: with failures or stalls.  A run
# that hangs counts as one that exits with 124.
trains_with () {
  faults=$1; want=$2; into=$3; shift 3
  DFLASH_FAULT=$faults timeout -k 1 20 dflash-train --target "$target" \
    --data data.jsonl --output "$into" $tiny "$@" > out 2> err
  got=$?
  test $got = "$want" && return
  echo "# $faults: train $into $*: exit status $got, wanted $want"
  sed 's/^/# /' err; return 1
}

# The lines of OUTPUT's metrics without what the clock says.
metrics () {
  sed 's/,"tokens_per_second":[^,}]*//' "$1/metrics.jsonl"
}
# alike A B: both runs saw the same numbers, bit by bit, and made the same
# drafter.
alike () {
  metrics "$1" > metrics.a; metrics "$2" > metrics.b
  test -s metrics.a && diff metrics.a metrics.b > diff.out \
    && cmp "$1/drafter/model.safetensors" "$2/drafter/model.safetensors" \
    && return
  sed 's/^/# /;4q' diff.out; return 1
}
# steps_of OUTPUT: the steps in its metrics, in their order, in a line.
steps_of () {
  sed -n 's/.*"step":\([0-9]*\),"epoch".*/\1/p' "$1/metrics.jsonl" |
    tr '\n' ' '
}

# says PATTERN: a line of the messages matches.  says_only: it is the only
# line there is.
says () {
  grep -q -- "$1" err && return
  echo "# wanted: $1"; sed 's/^/# /' err; return 1
}
says_only () { says "$1" && test "`wc -l < err`" = 1; }
lacks () { test ! -e "$1"; }
# skip_rest N REASON: the last N tests.
skip_rest () {
  n=$1; shift
  while test $n -gt 0; do
    count=`expr $count + 1`; n=`expr $n - 1`
    echo "ok $count # SKIP $*"
  done
}
