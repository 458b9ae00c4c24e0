# What all tools do with options, shown by a small one.
. "$abs_top_srcdir/tests/init.sh"
demo=$abs_top_builddir/tests/tool/option-demo
try="Try 'option-demo --help' for more information."

# err is exactly the line $1 and the hint.
err_is () {
  printf '%s\n%s\n' "$1" "$try" > want; cmp -s want err && return
  diff want err | sed 's/^/# /'; return 1
}
# The first line of out that begins with $1, its comment after one blank.
line () { sed -n "/^$1/{s/  *# / # /;p;q;}" out; }
out_has () {
  got=`line "${1%% *}"`; test "$got" = "$1" && return
  echo "# wanted: $1"; echo "#    got: $got"; return 1
}

# Mistakes, one a line: a variable or "-", words of the command line, message.
cat > mistakes <<'END'
-|--target-postprocess-depth=0|--target-postprocess-depth: 0 is not within 1 and 64
-|--target-postprocess-depth=-1|--target-postprocess-depth: -1 is not within 1 and 64
-|--target-postprocess-depth=65|--target-postprocess-depth: 65 is not within 1 and 64
-|--target-postprocess-depth=abc|--target-postprocess-depth: 'abc' is not a whole number
-|--target-postprocess-depth=7x|--target-postprocess-depth: '7x' is not a whole number
-|--target-postprocess-depth=1e9|--target-postprocess-depth: '1e9' is not a whole number
-|--target-postprocess-depth=0x10|--target-postprocess-depth: '0x10' is not a whole number
-|--target-postprocess-depth=+5|--target-postprocess-depth: '+5' is not a whole number
-|--target-postprocess-depth=true|--target-postprocess-depth: 'true' is not a whole number
-|--target-postprocess-depth=3000000000|--target-postprocess-depth: 3000000000 is not within 1 and 64
-|--target-postprocess-depth=99999999999999999999|--target-postprocess-depth: 99999999999999999999 is not within 1 and 64
-|--target-postprocess-depth=|--target-postprocess-depth: '' is not a whole number
-|-n 5x|--max-steps: '5x' is not a whole number
-|-n -5|--max-steps: -5 is not at least 0
-|-r 0|--learning-rate: 0 is not above 0 and at most 1
-|-r nan|--learning-rate: 'nan' is not a decimal number
-|-r 1e-4x|--learning-rate: '1e-4x' is not a decimal number
-|--transport=pigeon|--transport: 'pigeon' is not one of auto, host, peer
-|--target-layer-ids=1,,2|--target-layer-ids: '' is not a whole number
-|--target-layer-ids=64|--target-layer-ids: 64 is not within 0 and 63
-|--target-layer-ids=3,3|--target-layer-ids: layer 3 is out of order
DFLASH_TARGET_LAYER_IDS=3,1||DFLASH_TARGET_LAYER_IDS (--target-layer-ids): layer 1 is out of order
-|--room=1|--room: 1 is not within 4KiB and 1TiB
-|--room=lots|--room: 'lots' is not a size such as 4096 or 64KiB
-|--stats=|--stats: the value is empty
-|--target=|--target: the value is empty
-|--frob|unrecognized option '--frob'
-|-Z|invalid option -- 'Z'
-|--max-steps|option '--max-steps' requires an argument
-|--quiet=yes|option '--quiet' doesn't allow an argument
-|--config=absent.conf|--config: absent.conf: No such file or directory
-|--config=/|--config: /: Is a directory
DFLASH_CONFIG=absent.conf||DFLASH_CONFIG (--config): absent.conf: No such file or directory
DFLASH_TARGET_POSTPROCESS_DEPTH=abc||DFLASH_TARGET_POSTPROCESS_DEPTH (--target-postprocess-depth): 'abc' is not a whole number
DFLASH_TARGET_POSTPROCESS_DEPTH=0||DFLASH_TARGET_POSTPROCESS_DEPTH (--target-postprocess-depth): 0 is not within 1 and 64
DFLASH_TARGET_POSTPROCESS_DEPTH=||DFLASH_TARGET_POSTPROCESS_DEPTH (--target-postprocess-depth): '' is not a whole number
DFLASH_TARGET_POSTPROCESS_DEPTH=7 ||DFLASH_TARGET_POSTPROCESS_DEPTH (--target-postprocess-depth): '7 ' is not a whole number
DFLASH_LEARNING_RATE=inf||DFLASH_LEARNING_RATE (--learning-rate): 'inf' is not a decimal number
DFLASH_QUIET=||DFLASH_QUIET (--quiet): '' is neither true nor false
DFLASH_NO_SPLIT_FC_LAYERS=maybe||DFLASH_NO_SPLIT_FC_LAYERS (--no-split-fc-layers): 'maybe' is neither true nor false
DFLASH_DATA=a::b||DFLASH_DATA (--data): the value is empty
DFLASH_STATS=||DFLASH_STATS (--stats): the value is empty
END

# Configuration files, one a line (printf's escapes), and what is wrong.
cat > configs <<'END'
max-steps = 5x\n|1: --max-steps: '5x' is not a whole number
\n# note\ntarget-postprocess-depth = 0\n|3: --target-postprocess-depth: 0 is not within 1 and 64
max-steps\n|1: this is not of the form "name = value"
= 5\n|1: this is not of the form "name = value"
max steps = 5\n|1: this is not of the form "name = value"
max-steps =\n|1: there is no value after '='
max-steps = # 5\n|1: there is no value after '='
max_steps = 5\n|1: there is no option 'max_steps'; is it meant for 'max-steps'?
frobnicate = 5\n|1: there is no option 'frobnicate'
max-steps = 1\n\nmax-steps = 2\n|3: 'max-steps' was already given on line 1
split-fc-layers = no\nno-split-fc-layers = no\n|2: 'split-fc-layers' was already given on line 1
config = other.conf\n|1: 'config' cannot be set in a file
dump-config = yes\n|1: 'dump-config' cannot be set in a file
stats = "a\n|1: the closing quote is missing
stats = "a\\q"\n|1: in quotes '\' needs n, '"' or '\' after it
stats = "a" b\n|1: there is text after the closing quote
stats = ""\n|1: --stats: the value is empty
no-split-fc-layers = 2\n|1: --no-split-fc-layers: '2' is neither true nor false
stats = a\0b\n|1: there is a zero byte in this line
END

n=`cat mistakes configs | wc -l`
plan `expr $n + 65`

# Mistakes are named with their place.
while IFS='|' read -r env words message; do
  check () {
    case $env in
    -) run 2 "$demo" -t x $words ;;
    *) run 2 env "$env" "$demo" -t x ;;
    esac && err_is "option-demo: $message" && test ! -s out
  }
  ok "refused: $message" check
done < mistakes
while IFS='|' read -r text message; do
  printf "$text" > run.conf
  check () {
    run 2 "$demo" -t x --config run.conf \
      && err_is "option-demo: run.conf:$message" && test ! -s out
  }
  ok "refused: run.conf:$message" check
done < configs
check () { run 2 "$demo" && err_is 'option-demo: --target is required'; }
ok 'a required option is missed' check
check () { DFLASH_QUIET=1 DFLASH_NO_QUIET=1 run 2 "$demo" -t x \
  && err_is 'option-demo: both DFLASH_QUIET and DFLASH_NO_QUIET are set'; }
ok 'two variables for one flag are refused' check

# Precedence.
export DFLASH_TARGET=x
printf 'max-steps = 30\nlearning-rate = 0.5\nquiet = on\n' > run.conf
ok 'built-in values' run 0 "$demo"
ok '  an integer' out_has 'max-steps = 0 # built-in'
ok '  a real number' out_has 'learning-rate = 0.0006 # built-in'
ok '  a size' out_has 'room = 64MiB # built-in'
ok '  a flag that is on' out_has 'split-fc-layers = true # built-in'
ok 'the file is above the built-in' run 0 "$demo" --config run.conf
ok '  and says where it has a value' out_has 'max-steps = 30 # run.conf:1'
ok '  for each value' out_has 'quiet = true # run.conf:3'
ok 'the environment is above the file' \
  run 0 env DFLASH_MAX_STEPS=20 DFLASH_CONFIG=run.conf "$demo"
ok '  and is named' \
  out_has 'max-steps = 20 # environment DFLASH_MAX_STEPS'
ok '  and the rest of the file holds' \
  out_has 'learning-rate = 0.5 # run.conf:2'
ok 'the command line is above all' \
  run 0 env DFLASH_MAX_STEPS=20 "$demo" --config run.conf -n 10
ok '  and is named' out_has 'max-steps = 10 # command line'
ok 'a value that does not count is not read' \
  run 0 env DFLASH_MAX_STEPS=abc DFLASH_ROOM=1M "$demo" -n 5x -n 7
ok '  and the last on the command line does' \
  out_has 'max-steps = 7 # command line'
ok '  and the others of the environment do' \
  out_has 'room = 1MiB # environment DFLASH_ROOM'

# Flags.
ok 'a flag is cleared' run 0 "$demo" --no-split-fc-layers -q
ok '  by its no- name' out_has 'split-fc-layers = false # command line'
ok '  and set by its letter' out_has 'quiet = true # command line'
ok 'a flag is cleared from the environment' \
  run 0 env DFLASH_NO_SPLIT_FC_LAYERS=true DFLASH_QUIET=on "$demo" --no-quiet
ok '  by its no- name too' out_has \
  'split-fc-layers = false # environment DFLASH_NO_SPLIT_FC_LAYERS'
ok '  and the command line is above it' out_has 'quiet = false # command line'

# Lists, operands, optional arguments.
words () { sed -n 's/^\(data\|operand\)\( =\)* \([^ ]*\).*/\1:\3/p' out \
  | tr '\n' ' '; }
lists () { list=$1; shift; run 0 "$demo" "$@" && test "`words`" = "$list "; }
ok 'a list takes words up to the next option' \
  lists 'data:a data:b operand:c' --data a b -q c
ok 'a list is repeated' lists 'data:a data:b data:c' -d a b -q --data=c
ok '-- ends a list' lists 'data:a operand:b operand:-q' -d a -- b -q
ok 'operands stand anywhere' \
  lists 'data:d operand:a operand:b operand:c' a -q b -q c -d d
ok 'a list comes from the environment' env DFLASH_DATA=a:b \
  abs_top_srcdir="$abs_top_srcdir" sh -c "'$demo' > out"
ok '  with colons' test "`words`" = 'data:a data:b '
ok 'an optional argument' run 0 "$demo" --stats a
ok '  is left out' out_has 'stats = - # command line'
ok '  without taking the next word' test "`words`" = 'operand:a '
ok 'a comma list' run 0 "$demo" --target-layer-ids 1,9,17
ok '  is read' out_has 'target-layer-ids = 1,9,17 # command line'

# Dump and read back.
nasty='a "b" \ # c
d'
run 2 "$demo" -d a ''
ok 'an empty word in a list is refused' \
  err_is 'option-demo: --data: the value is empty'
run 0 "$demo" -n 10 -r 1e-7 --gamma 0.1 --transport peer --room 5000 -q \
  --target-layer-ids 3,5 --no-split-fc-layers --stats="$nasty" -d 'x y' z#1 \
  --dump-config > log
mv out dump
ok 'a dump is read back' \
  run 0 env -u DFLASH_TARGET "$demo" --config dump --dump-config
strip () { sed 's/  *# [a-z].*//' "$1"; }
strip dump > dump.values; strip out > out.values
ok '  to the same values' cmp dump.values out.values
ok '  which are all there' test `grep -c ' = .*# dump:[0-9]*$' out` = 15
ok '  but for those that are none' \
  grep -qx "# mask-token-id is not set (the tokenizer's)" out
ok 'a dump needs no required option' run 0 env -u DFLASH_TARGET "$demo" \
  --dump-config
printf '\t max-steps=4\r\n  quiet = yes   # a note\r\nstats = a#b c\r\n' > crlf
ok 'blanks, notes and CRLF' run 0 "$demo" --config crlf
ok '  do not matter' out_has 'stats = "a#b c" # crlf:3'

# Near misses in the environment.
ok 'a slip in the name of a variable' run 0 env DFLASH_MAX_STEP=3 "$demo"
ok '  brings a warning' grep -qx "option-demo: warning: no option reads the \
variable DFLASH_MAX_STEP; is it meant for --max-steps?" err
run 0 env DFLASH_GOLDEN=x DFLASH_FAULT=y DFLASH_REPEATS=3 "$demo"
ok 'a variable of something else does not' test ! -s err

# Help and version.
ok '--help shows the built-in values' run 0 "$demo" -n 99 --help
ok '  in brackets' grep -q 'max-steps=N  *stop after N steps \[0\]$' out
ok '  and choices' grep -q 'by HOW: auto, host or peer \[auto\]$' out
ok '  and what stands for no value' grep -q "token ID \[the tokenizer's\]$" out
ok '  and what is required' \
  grep -q '=DIR  *read the target from DIR (required)$' out
ok '  and flags by the name that changes them' \
  grep -q '^      --no-split-fc-layers$' out
ok '  and optional arguments' grep -q '^      --stats\[=FILE\]  ' out
ok '  fits into 79 columns' test `awk 'length > 79' out | wc -l` = 0
ok '--version' run 0 "$demo" --version
ok '  as GNU has it' test "`sed 1q out`" = "option-demo (dflash) $VERSION"
for o in --help --version --dump-config; do
  ok "$o tells of write errors" run 2 sh -c "'$demo' $o > /dev/full"
  ok '  by name' grep -qx \
    'option-demo: standard output: No space left on device' err
done
ok 'no standard output is no trouble for who says nothing' \
  run 2 sh -c "'$demo' --frob >&-"
ok '  and says so once' err_is "option-demo: unrecognized option '--frob'"
ok '  but is for who has to' run 2 sh -c "'$demo' --help >&-"
