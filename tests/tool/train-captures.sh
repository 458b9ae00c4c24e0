# What is captured and then trained on gives the losses of live training, bit
# by bit, in whatever format, layout and order it was written.
. "$abs_top_srcdir/tests/tool/train.sh"
. "$abs_top_srcdir/tests/tool/capture.sh"
plan 116
head -n 3 data.jsonl > few.jsonl

# Live, of one epoch and of two, without noise and with it.
for noise in 0 0.1; do
  for epochs in 1 2; do
    ok "a live run of $epochs epochs with noise $noise" trains 0 \
      live-$epochs-$noise $layers --epochs $epochs --noise $noise
  done
done
for layout in packed split; do
  ok "HDF5, $layout" captures 0 $layout.h5 --layout $layout
  ok "a stream, $layout" captures 0 $layout.dfs --layout $layout
  for file in $layout.h5 $layout.dfs; do
    for noise in 0 0.1; do
      for epochs in 1 2; do
        check () {
          offline 0 o $file --epochs $epochs --noise $noise --overwrite &&
            alike live-$epochs-$noise o
        }
        ok "$file, $epochs epochs, noise $noise: as live" check
      done
    done
  done
  for noise in 0 0.1; do
    check () {
      piped o "--layout $layout" --noise $noise --overwrite &&
        alike live-1-$noise o
    }
    ok "a pipe, $layout, noise $noise: as live" check
  done
done
check () {
  piped o '' --noise 0.1 --epochs 2 --spool spool.dfs --overwrite \
    --save-interval 4 && alike live-2-0.1 o
}
ok 'a pipe that is kept, 2 epochs: as live' check
ok '  and the copy is the stream' cmp spool.dfs split.dfs
check () {
  rm -r o/drafter o/checkpoints/step-12
  offline 0 o - --noise 0.1 --epochs 2 --spool spool.dfs --resume \
    < /dev/null && alike live-2-0.1 o
}
ok '  with which it can be resumed' check
ok "speculators' folder" captures 0 folder/
check () {
  offline 0 o folder --epochs 2 --noise 0.1 $layers --overwrite &&
    alike live-2-0.1 o
}
ok '  as live' check
rm folder/capture.json
check () {
  offline 0 o folder --epochs 2 --noise 0.1 $layers --overwrite &&
    alike live-2-0.1 o
}
ok '  also without what only we write there' check
cp -r folder spoilt
head -c 1000 folder/hs_5.safetensors > spoilt/hs_5.safetensors
check () {
  offline 0 o spoilt $layers --overwrite && says 'left out: .*/hs_5.safet' &&
    says 'warning: 1 samples of the captures are bad'
}
ok '  a file of it that was cut is left out' check
ok '    with --strict it is refused' offline 2 new spoilt $layers --strict
ok '    and found' run 1 dflash-inspect spoilt
check () {
  offline 2 new folder && says 'folder: of 2 layers, not 1$' && lacks new
}
ok '  which needs to be told its layers then' check

# However it is captured and read.
while IFS='|' read -r label faults how options; do
  check () {
    DFLASH_FAULT=$faults captures 0 new.h5 --overwrite $how &&
      offline 0 o new.h5 --epochs 2 --noise 0.1 --overwrite $options &&
      alike live-2-0.1 o
  }
  ok "the same with $label" check
done <<'END_OF'
1 prefetch thread||--prefetch-threads 1|--prefetch-threads 1
2 targets||--target-devices cpu:0,cpu:1|
another drafter device|||--drafter-devices cpu:1
other batches while capturing||--token-budget 512 --max-batch-size 7|
another seed while capturing||--seed 7|
the last hidden state as well||--last-hidden|
copies that stall|copy=stall:5,postprocess=stall:5|--target-postprocess-depth 3|
a writer that stalls|write=stall:5|--flush-every 1|
10 batches before the first step|||--min-ready 10
checks of some rows|||--verify sample
no checks|||--verify off
END_OF
for i in 1 2 3; do
  ok "shard $i of 3" captures 0 shard$i.h5 --shard $i/3
done
check () {
  offline 0 o 'shard3.h5 shard1.h5 shard2.h5' --epochs 2 --noise 0.1 \
    --overwrite && alike live-2-0.1 o
}
ok '  together they have all samples' check
mkdir shards; cp shard?.h5 shards; echo none > shards/notes
for word in shards 'shard[0-9].h5' 'sh*s/*.h5'; do
  check () {
    dflash-train --target "$target" --captures "$word" --output o $tiny \
      --epochs 2 --noise 0.1 --overwrite > out 2> err && alike live-2-0.1 o
  }
  ok "  also as $word" check
done
check () {
  dflash-train --target "$target" --captures '*.none' --output new $tiny \
    > out 2> err
  test $? = 2 && says '^dflash-train: \*.none: no file matches$' && lacks new
}
ok 'what nothing matches is refused' check
# passed FILE...: trained on as they pass through dflash-inspect.
passed () {
  dflash-inspect --pass "$@" 2> err.between |
    dflash-train --target "$target" --captures - --output o $tiny --overwrite \
      > out 2> err
}
check () {
  passed shard1.h5 shard2.h5 shard3.h5 || return
  echo "# steps: `steps_of o`"
  test "`steps_of o | wc -w`" = 6
}
ok 'passed on as one stream, they are trained on to the end' check
check () {
  captures 0 part.h5 --max-samples 4 && captures 0 part.h5 --resume &&
    ! passed part.h5 && says 'say how many batches will come: give --max-step'
}
ok 'how many batches come is not told by a file that grew' check
for i in 1 2; do
  ok "a stream of one batch, $i" captures 0 one$i.dfs --shard $i/6
done
check () { passed one1.dfs one2.dfs && test "`steps_of o | wc -w`" = 2; }
ok 'two batches of one number stay two' check
ok 'a shard that is none is refused' captures 2 s.h5 --shard 4/3
ok '  by name' says "^dflash-capture: --shard: '4/3' is not I/N with I fr"
check () {
  offline 0 o 'shard1.h5 split.h5' --epochs 2 --noise 0.1 --overwrite &&
    says 'warning: the sample of index 0 is there twice: as record' &&
    alike live-2-0.1 o
}
ok 'samples that are there twice count once' check
ok '  with --strict they are refused' offline 2 new 'shard1.h5 split.h5' \
  --strict
ok 'files of both layouts are refused' offline 2 new 'split.h5 packed.h5'
check () {
  captures 0 first.h5 --max-samples 4 --overwrite &&
    offline 0 o first.h5 --overwrite && says '^dflash-train: first.h5: 4 sam'
}
ok '--max-samples' check

# Evaluations, checkpoints, resuming.
ok 'a live run with evaluations' trains 0 evals $layers --epochs 2 \
  --eval-data few.jsonl --eval-interval 4 --save-interval 4 --keep 0
ok 'captures of the evaluation data' captures 0 few.h5 --data few.jsonl \
  --max-samples 12
check () { dflash-capture --target "$target" --data few.jsonl -o few.h5 \
  $small --overwrite > out 2> err; }
ok '  alone' check
check () {
  offline 0 o split.h5 --epochs 2 --eval-captures few.h5 --eval-interval 4 \
    --save-interval 4 --keep 0 --overwrite && alike evals o
}
ok 'evaluations from captures: as live' check
check () {
  rm -r o/drafter o/checkpoints/step-12 o/checkpoints/step-8
  offline 0 o split.h5 --epochs 2 --eval-captures few.h5 --eval-interval 4 \
    --save-interval 4 --keep 0 --resume && alike evals o &&
    says 'resuming from o/checkpoints/step-4$'
}
ok '  resumed: as live' check
check () {
  rm -r o/drafter o/checkpoints/step-12
  offline 2 o 'shard1.h5' --epochs 9 --eval-captures few.h5 \
    --eval-interval 4 --resume && says 'step-8: written with captures = "'
}
ok '  but not with other captures' check

# The target is compared.
cp -r "$target" other; chmod -R u+w other
sed 's/"rms_norm_eps": *[0-9.e-]*/"rms_norm_eps": 1e-5/' \
  "$target/config.json" > other/config.json
refused () { # MESSAGE OPTION...
  wanted=$1; shift
  dflash-train --captures split.h5 --output new $tiny "$@" > out 2> err
  test $? = 2 && says "$wanted" && lacks new
}
ok 'another model is refused' refused \
  '^dflash-train: split.h5: not of these layers of other: config_hash' \
  --target other
cp "$target/config.json" other; cp "$target/tokenizer.json" other
echo >> other/tokenizer.json
check () { dflash-capture --target other --data few.jsonl -o alien.h5 \
  $small --last-hidden --layout packed > out 2> err; }
ok 'captures of another tokenizer' check
check () {
  dflash-train --target "$target" --captures folder alien.h5 --output new \
    $tiny $layers > out 2> err
  test $? = 2 && lacks new &&
    says 'alien.h5: not of these layers of .*: tokenizer_hash is'
}
ok '  are refused also behind a folder that does not say' check
ok 'another tokenizer is refused' refused \
  '^dflash-train: split.h5: not of these layers of other: tokenizer_hash' \
  --target other
cp "$target/tokenizer.json" other
ok 'a copy of the target is not' offline 0 new split.h5 --target other
rm -r new
# Without the weights of its layers, which are not read.
cat > blank.py <<'END_OF'
import json, struct, sys
with open(sys.argv[1], 'r+b') as f:
    n = struct.unpack('<Q', f.read(8))[0]
    for name, t in json.loads(f.read(n)).items():
        if '.layers.' in name:
            a, b = t['data_offsets']
            f.seek(8 + n + a)
            f.write(b'\x7f' * (b - a))
END_OF
if python3 blank.py other/model.safetensors 2> /dev/null; then
  check () {
    offline 0 o split.h5 --target other --epochs 2 --noise 0.1 --overwrite &&
      alike live-2-0.1 o
  }
  ok 'of the target only embedding and head are read' check
else
  skip_rest 1 'no python3'
fi
ok 'other layers are refused' refused 'split.h5: not of.*: layer_ids' \
  --target "$target" --target-layer-ids 1,2
ok 'so is another number of layers' refused 'split.h5: of 2 layers, not 1' \
  --target "$target" --target-layer-ids 3
ok '--train-on last is refused if it was not captured so' refused \
  '^dflash-train: --train-on: last, but split.h5 was captured without it$' \
  --target "$target" --train-on last
ok 'captures of last turns' captures 0 lasts.h5 --train-on last --shard 1/3
check () {
  offline 2 new 'lasts.h5 shard2.h5' --train-on last && lacks new &&
    says '^dflash-train: --train-on: last, but shard2.h5 was captured without'
}
ok '  are not mixed with others unseen' check
ok 'a file that is none is refused' offline 2 new data.jsonl
ok '  by name' says 'data.jsonl: neither a dflash stream nor an HDF5 file'
ok 'an absent file is refused' offline 2 new absent.h5
ok '  by name' says 'absent.h5: No such file'

# Long samples, and bad ones.
ok 'samples that are too long' offline 0 o split.h5 --max-length 30 \
  --overwrite
ok '  are left out' says 'skipped: longer than --max-length'
ok '  with --strict they are refused' offline 2 new split.h5 --max-length 30 \
  --strict
ok '  by name' says 'split.h5: sample [0-9]* has [0-9]* tokens, not 1 to --max'
damage () { # FILE: a bit of a hidden value of the last sample
  cp "$1" bad.dfs
  at=`expr \`wc -c < bad.dfs\` - 3000`
  printf '\125\252\125\252' | dd of=bad.dfs bs=1 seek=$at conv=notrunc \
    2> /dev/null
}
damage split.dfs
ok 'a sample whose rows are damaged' offline 0 o bad.dfs --epochs 2 \
  --overwrite
ok '  is named' says 'left out: bad.dfs'
ok '  and counted once' says 'warning: 1 samples of the captures are bad'
ok '  with --strict it stops the run' offline 2 strict bad.dfs --strict
ok '  and without checks goes unnoticed' offline 0 o bad.dfs --verify off \
  --overwrite
check () { offline 0 o bad.dfs --max-batch-size 1 --epochs 2 --overwrite; }
ok 'a batch that is left without samples does no harm' check
made () { # FILE WORD...: random states of the target's layer 1
  "$abs_top_builddir/tests/tool/make-capture" "$@" hidden=256 layers=1 vocab=0
}
made unmasked.h5 samples=3 tokens=20 unmask=1
check () {
  offline 0 o unmasked.h5 --max-batch-size 1 --epochs 2 --overwrite &&
    says 'left out: unmasked.h5: sample 1: nowhere two supervised tokens in' &&
    says 'warning: 1 samples of the captures are bad'
}
ok 'a sample without anchors is left out' check
ok '  and a step of nothing has no numbers' test `grep -c \
  '"loss":null,"accuracy":null,"accept_length":null,.*"grad_norm":0.0,' \
  o/metrics.jsonl` = 2
pipe_in () { # FILE STATUS OPTION...
  file=$1 want=$2; shift 2
  dflash-train --target "$target" --captures - --output o $tiny --overwrite \
    "$@" < $file > out 2> err
  test $? = $want
}
check () {
  cat bad.dfs | pipe_in /dev/stdin 0 && says 'left out: .*sample' &&
    says '1 samples of the captures are bad'
}
ok 'from a pipe it is left out as well' check
LC_ALL=C sed 's/{"index":"5"/?"index":"5"/' split.dfs > spoilt.dfs
check () {
  cat spoilt.dfs | pipe_in /dev/stdin 0 && says 'left out: .*not JSON' &&
    says '1 samples of the captures are bad'
}
ok "  and so is one that can't be read" check
# What the header says of the batches to come, besides their number.
while IFS='|' read -r key value; do
  LC_ALL=C sed "1s/\"$key\":[0-9]*/\"$key\":$value/" split.dfs > odd.dfs
  check () {
    cat odd.dfs | pipe_in /dev/stdin 2 &&
      says "^dflash-train: standard input: notes: $key is no number from 0 to"
  }
  ok "  a $key of $value is refused" check
done <<'END_OF'
token_budget|4294967296
max_batch_size|-1
END_OF
head -c 100000 split.dfs > cut.dfs
check () {
  cat cut.dfs | pipe_in /dev/stdin 2 &&
    says 'truncated after sample' && test -d o/checkpoints
}
ok 'a pipe that breaks off is an error, and what came is trained on' check
check () {
  cat cut.dfs | pipe_in /dev/stdin 2 --spool cut-spool.dfs &&
    says 'truncated after sample' && test -d o/checkpoints
}
ok '  also if it is kept' check
check () {
  cat split.dfs | pipe_in /dev/stdin 0 --max-length 30 &&
    says '[0-9] samples longer than --max-length, or empty, were left out'
}
ok 'samples of a pipe that are too long are left out' check
check () {
  cat split.dfs | pipe_in /dev/stdin 2 --max-length 30 --strict &&
    says 'standard input: sample [0-9]* has [0-9]* tokens, not 1 to --max-l'
}
ok '  with --strict they are refused' check
made empty.dfs samples=4 tokens=0 grow=20
check () {
  cat empty.dfs | pipe_in /dev/stdin 0 --max-steps 3 &&
    says '1 samples longer than --max-length, or empty, were left out'
}
ok 'so is an empty one' check
for batches in -1 9223372036854775807 '"6"'; do
  check () {
    LC_ALL=C sed '1s/"batches":[0-9]*/"batches":'$batches/ split.dfs |
      pipe_in /dev/stdin 2 && says \
      '^dflash-train: standard input: notes: batches is no number from 0 to 42'
  }
  ok "a pipe of $batches batches is refused" check
done
check () { cat split.dfs | pipe_in /dev/stdin 2 --epochs 2; }
ok 'more epochs from a pipe are refused' check
ok '  with the way out' says 'a pipe is read once: --spool keeps it'
check () {
  offline 2 new split.dfs --transport peer && lacks new &&
    says 'peer transport needs a target and a drafter: captures are read into'
}
ok 'captures have nothing to copy from device to device' check
