# How near captures come to what the machine can do: each ratio is printed, the
# best of several tries counts, as other work only makes it worse.
. "$abs_top_srcdir/tests/tool/train.sh"
. "$abs_top_srcdir/tests/tool/capture.sh"
test `df -Pk . | awk 'NR == 2 { print $4 }'` -gt 3000000 ||
  skip_all 'less than 3 GB are free here'
case $CFLAGS in *-fsanitize*) skip_all 'a sanitizer takes the time' ;; esac
make=$abs_top_builddir/tests/tool/make-capture
plan 11

# ratio WANTED COMMAND: the best of what COMMAND prints in five tries.
ratio () {
  wanted=$1 best=0; shift
  for try in 1 2 3 4 5; do
    best=`{ echo $best; "$@"; } | sort -g | tail -n 1`
    expr "$best" '>=' "$wanted" > /dev/null && break
  done
  echo "# $label: $best, wanted $wanted"
  awk "BEGIN { exit !($best >= $wanted) }"
}
# seconds COMMAND...: what it takes.
seconds () {
  start=`date +%s%N`; "$@" > /dev/null 2> err; end=`date +%s%N`
  awk "BEGIN { print ($end - $start) / 1e9 }"
}
over () { awk "BEGIN { printf \"%.3f\n\", $1 / $2 }"; }

K=5 H=2560 tokens=20000
for layout in 0 1; do
  for file in big.h5 big.dfs; do
    "$make" $file samples=40 tokens=500 grow=0 hidden=$H layers=$K fast=1 \
      split=$layout
    bytes=`wc -c < $file`
    echo "# $file: `over $bytes "($tokens * (2 * $K * $H + 8 * $K + 5))"`"
    ok "the size of $file, split $layout" test `expr $bytes '*' 100` -le \
      `expr $tokens '*' '(' 2 '*' $K '*' $H + 8 '*' $K + 5 ')' '*' 102`
  done
done

for file in big.h5 big.dfs; do
  cat $file > /dev/null
  inspect () { over `seconds cat $file` `seconds dflash-inspect $file`; }
  label="inspecting $file over cat"
  ok "$label" ratio 0.35 inspect
done

# To the same disk, synced.
write () {
  rm -f new.h5 copy
  wrote=`"$make" new.h5 samples=40 tokens=500 grow=0 hidden=$H layers=$K \
    fast=1 time=1`
  over `seconds dd if=big.h5 of=copy bs=1M conv=fsync` $wrote
}
label='writing HDF5 over dd'
ok "$label" ratio 0.6 write

# The target's share of the run: what is packed, copied and written goes on
# beside its passes.
conversations 1 600 > data.jsonl
forward () {
  dflash-capture --target "$target" --data data.jsonl -o - $small "$@" \
    --token-budget 2048 --max-batch-size 64 --stats 2> err > /dev/null
  awk '$1 == "target" { print $4 / 100 }' err
}
for layout in packed split; do
  label="forward passes over capturing, $layout"
  ok "$label" ratio 0.9 forward --layout $layout
done
for file in big.h5 big.dfs; do
  ok "$file is clean" run 0 dflash-inspect $file
done
