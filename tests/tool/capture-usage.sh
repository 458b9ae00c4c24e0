# dflash-capture's command line: mistakes, formats, what goes where.
. "$abs_top_srcdir/tests/tool/train.sh"
. "$abs_top_srcdir/tests/tool/capture.sh"
mkdir there

# Words of the command line, message.
cat > mistakes <<'END_OF'
--frob|unrecognized option '--frob'
word|extra operand 'word'
--format tar|--format: 'tar' is not one of hdf5, stream, speculators
--layout mixed|--layout: 'mixed' is not one of packed, split
--output new|--output: 'new' doesn't end in .h5, .hdf5, .dfs or /: tell the format by --format
--output - --format hdf5|--format: standard output takes a stream only
--output new.dfs --resume|--resume: a stream can't be resumed
--resume --overwrite|--resume and --overwrite exclude each other
--shard 0/2|--shard: '0/2' is not I/N with I from 1 to N
--shard 3/2|--shard: '3/2' is not I/N with I from 1 to N
--shard 1|--shard: '1' is not I/N with I from 1 to N
--shard +1/2|--shard: '+1/2' is not I/N with I from 1 to N
--shard 1/+2|--shard: '1/+2' is not I/N with I from 1 to N
--shard 1/2x|--shard: '1/2x' is not I/N with I from 1 to N
--flush-every 0|--flush-every: 0 is not within 1 and 1048576
--max-samples 0|--max-samples: 0 is not within 1 and 4611686018427387903
--answers a.jsonl|--answers: needs --generate
--temperature 0.5|--temperature: needs --generate
--concurrency 4|--concurrency: needs --generate
--max-new-tokens 9|--max-new-tokens: needs --generate
--max-length 100 --token-budget 99|--token-budget: 99 is below --max-length, which is 100
--target-devices gpu|--target-devices: device 'gpu' is not cpu, cpu:N or cuda:N with N from 0 to 63
--target-layer-ids 1,6|--target-layer-ids: layer 6, but @ has layers 0 to 5
--target-layer-ids 3,1|--target-layer-ids: layer 1 behind layer 3
END_OF
n=`wc -l < mistakes`
plan `expr $n + 40`
while IFS='|' read -r words message; do
  message=`echo "$message" | sed "s|@|$target|"`
  check () {
    run 2 dflash-capture --target "$target" --data data.jsonl \
      --output new.h5 $words
    { echo "dflash-capture: $message"
      echo "Try 'dflash-capture --help' for more information."; } > wanted
    diff wanted err > diff.out && test ! -s out && lacks new.h5 && lacks new \
      && return
    sed 's/^/# /' diff.out; return 1
  }
  ok "refused: $message" check
done < mistakes
for o in target data output; do
  set -- --target t --data d --output o.h5
  words=`echo " $*" | sed "s/ --$o [^ ]*//"`
  check () { run 2 dflash-capture $words && says "^dflash-capture: --$o is re"; }
  ok "--$o is required" check
done
ok '--help succeeds' run 0 dflash-capture --help
ok '  within 79 columns' test `awk 'length > 79' out | wc -l` = 0
ok '--version succeeds' run 0 dflash-capture --version
ok '  as GNU has it' test "`sed 1q out`" = "dflash-capture (dflash) $VERSION"

# One meaning and one default of what both tools have.
rows () { # TOOL
  for o in chat-template strict train-on max-length token-budget \
    max-batch-size cache seed target-devices prefetch-threads \
    target-postprocess-depth; do
    dflash-$1 --help | awk -v o="--$o" \
      '/^ *-/ || !/^  / { on = 0 } $1 ~ "^" o "(=|$)" { on = 1 } on'
  done
}
rows train > train.rows; rows capture > capture.rows
check () { diff train.rows capture.rows | sed 's/^/# /'
  cmp train.rows capture.rows; }
ok 'what dflash-train has as well is the same' check
ok '  eleven options' test `grep -c '^ *--' capture.rows` = 11

# Formats by name.
kind () { # FILE
  case `head -c 8 "$1" | od -An -c | tr -d ' '` in
    *HDF*) echo hdf5 ;; *) head -c 6 "$1" ;;
  esac
}
for name in a.h5 a.hdf5; do
  ok "$name" captures 0 $name
  ok '  is HDF5' test `kind $name` = hdf5
done
ok 'a.dfs' captures 0 a.dfs
ok '  is a stream' test "`kind a.dfs`" = dflash
ok 'folder/' captures 0 folder/
ok '  is a folder' test -f folder/hs_0.safetensors
ok 'a folder that is there' captures 0 there --resume
ok '  is one as well' test -f there/hs_0.safetensors
ok '--format' captures 0 any --format hdf5
ok '  counts for more' test `kind any` = hdf5

# Standard output has the stream and nothing else.
ok 'a stream on standard output' captures 0 - --stats --verbose
ok '  is what the file has' cmp out a.dfs
ok '  and the table is on standard error' says '^bottleneck: '
ok '  like the numbers' says '^12 samples, '
ok 'otherwise the table' captures 0 b.h5 --stats=stats.json
ok '  is on standard output' grep -q '^bottleneck: ' out
ok '  and --stats wrote JSON' grep -q '"token_bytes": ' stats.json
ok '--overwrite' captures 0 b.h5 --overwrite
ok '  replaces' test -s b.h5
ok '--dump-config' run 0 dflash-capture --dump-config --seed 7
cp out conf
ok '  is a file for --config' run 0 dflash-capture --dump-config --config conf
ok '  with the same values' grep -q '^seed = 7 ' out
ok 'an absent folder is named' captures 2 absent/a.h5
ok '  at once' says '^dflash-capture: absent/a.h5: No such file or dir'
ok 'a shard of no samples is refused' captures 2 none.h5 --shard 13/13
ok '  by name' says '^dflash-capture: none.h5: no samples in this shard$'
ok '  and nothing is written' lacks none.h5
ok 'samples that no drafter could learn from are left out' \
  captures 0 few.h5 --max-length 19
ok '  and counted' says 'warning: [0-9]* skipped: nothing to learn within'
