# Sourced by the tests that capture, after train.sh: small captures of its
# data, of two layers.
shared=$DFLASH_SHARED
unset DFLASH_SHARED # the tool would take it for a slip
small='--target-layer-ids 1,3 --max-length 64 --token-budget 128
--max-batch-size 2'
# captures STATUS FILE OPTION...: true if it exits with STATUS.
captures () {
  want=$1 into=$2; shift 2
  dflash-capture --target "$target" --data data.jsonl --output "$into" \
    $small "$@" > out 2> err
  got=$?
  test $got = "$want" && return
  echo "# capture $into $*: exit status $got, wanted $want"
  sed 's/^/# /' err; return 1
}
# offline STATUS OUTPUT "FILE..." OPTION...: train from captures.
offline () {
  want=$1 into=$2 from=$3; shift 3
  dflash-train --target "$target" --captures $from --output "$into" $tiny \
    "$@" > out 2> err
  got=$?
  test $got = "$want" && return
  echo "# train from $from $*: exit status $got, wanted $want"
  sed 's/^/# /' err; return 1
}
# piped OUTPUT "CAPTURE OPTION..." TRAIN OPTION...: one into the other,
# through the command $between.
between=cat
piped () {
  into=$1 how=$2; shift 2
  dflash-capture --target "$target" --data data.jsonl -o - $small $how \
    2> err.capture | $between 2> err.between |
    dflash-train --target "$target" --captures - --output "$into" $tiny "$@" \
      > out 2> err && return
  sed 's/^/# /' err err.capture err.between; return 1
}
layers='--target-layer-ids 1,3'
# python_has MODULE...
python_has () {
  for module in "$@"; do
    python3 -c "import $module" 2> /dev/null || return 1
  done
}
