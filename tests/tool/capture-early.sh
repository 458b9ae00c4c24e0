# A buffer that is taken again before its copy is done: a capture that does so
# is told by its checks, with the rows that are wrong; ours can't do it.
. "$abs_top_srcdir/tests/tool/train.sh"
. "$abs_top_srcdir/tests/tool/capture.sh"
plan 20
early=$abs_top_builddir/tests/tool/capture-early
conversations 1 40 > data.jsonl
DFLASH_FAULT='copy=stall@2:700,copy=stall@5:700'
faults=$DFLASH_FAULT

# rows PATTERN: what the findings of the word PATTERN have in their rows.
rows () {
  sed -n 's/.*"finding":"'$1'".*"count":\([0-9]*\).*/\1/p' out |
    awk '{ n += $1 } END { print n + 0 }'
}
unequal () { # rows of all layers that differ, as --compare counts them
  sed -n 's/.*"compared".*"rows":\([0-9]*\),"equal":\([0-9]*\).*/\1 \2/p' out |
    awk '{ n += $1 - $2 } END { print n + 0 }'
}
for layout in packed split; do
  for end in h5 dfs; do
    unset DFLASH_FAULT
    ok "$layout, $end" captures 0 good.$end --layout $layout --overwrite
    DFLASH_FAULT=$faults
    export DFLASH_FAULT
    check () {
      captures 0 slow.$end --layout $layout --overwrite &&
        run 0 dflash-inspect slow.$end --compare good.$end --limit 0
    }
    ok '  slow copies change nothing' check
    check () {
      "$early" --target "$target" --data data.jsonl --output early.$end \
        $small --layout $layout --overwrite > out 2> err &&
        run 1 dflash-inspect early.$end --compare good.$end --json \
          --limit 1e6
    }
    ok '  but those whose buffer is taken early do' check
    check () {
      echo "# `rows check` rows reported, `unequal` are wrong"
      test `unequal` -gt 20 && test `rows check` = `unequal`
    }
    ok '    in the rows that are said' check
    ok '    which are what was packed later' grep -q \
      '"finding":"check".*"other":{"sample"' out
  done
done
