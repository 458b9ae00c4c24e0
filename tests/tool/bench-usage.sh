# What dflash-bench refuses, with a message that says why.
. "$abs_top_srcdir/tests/init.sh"
plan 29

# refuse TEXT OPTION...: status 2, nothing on standard output but remarks, and
# TEXT in the message.
refuse () {
  text=$1; shift
  run 2 dflash-bench "$@" || return
  grep -v '^#' out && return 1
  grep -qF -e "$text" err && return
  sed 's/^/# /' err; return 1
}
ok 'an unknown suite' refuse "no suite is called 'packs'" packs
ok '--repeat 0' refuse '--repeat' pack --repeat 0
ok '--repeat of no number' refuse '--repeat' pack --repeat x
ok '--min-time below 0' refuse '--min-time' pack --min-time -1
ok '--limit below 0' refuse '--limit' pack --limit -1
ok 'a regular expression that is none' refuse "'('" pack --only '('
ok 'a case that is none' refuse "no case matches 'x9'" pack --only x9
ok 'the same of --list' refuse "no case matches 'x9'" --list --only x9
ok '--json and --csv' refuse 'exclude each other' pack --json --csv
ok '--check and --save-baseline' refuse '--check takes no times' pack \
  --check --save-baseline f
ok '--list and --plot' refuse '--list measures nothing' --list --plot f
ok 'a device that is none' refuse "gpu" pack --devices gpu
ok 'a GPU that is not there' refuse 'cuda:0' pack --devices cuda:0
DFLASH_REPEAT=0 ok 'from the environment' refuse DFLASH_REPEAT pack

one='--only 64x3x256/packed/checks --repeat 3 --min-time 0'
ok 'a baseline that is not there' refuse 'base.json: No such file' pack $one \
  --baseline base.json
ok 'a baseline is saved' run 0 dflash-bench pack $one \
  --save-baseline base.json
ok 'nowhere to save' run 2 dflash-bench pack $one --save-baseline no/base.json
ok 'says where' grep -q 'no/base.json: No such file' err
ok 'nowhere to draw' run 2 dflash-bench pack $one --plot no/p.svg
ok 'says where' grep -q 'no/p.svg: No such file' err
# spoil SCRIPT: the baseline changed by sed.
spoil () { sed "$1" base.json > spoilt.json; }
spoil 's/"version":"[^"]*"/"version":"0.0.1"/'
ok 'a baseline of another version' refuse \
  "spoilt.json:1: the baseline is of version 0.0.1, this is $VERSION" \
  pack $one --baseline spoilt.json
spoil 's/"model":"[^"]*"/"model":"Abacus"/'
ok 'a baseline of another device' refuse \
  "spoilt.json:1: in the baseline cpu:0 is 'Abacus'" \
  pack $one --baseline spoilt.json
spoil 's/"samples_s":\[[^]]*/"samples_s":[0.1,"x"/'
ok 'a sample that is no number' refuse 'spoilt.json:1: not a baseline' \
  pack $one --baseline spoilt.json
spoil 's/.$//'
ok 'a line that is no JSON' refuse 'spoilt.json:1: not a baseline' \
  pack $one --baseline spoilt.json
: > empty.json
ok 'an empty file' refuse 'empty.json: not a baseline' pack $one \
  --baseline empty.json
ok 'a baseline of other cases' run 2 dflash-bench pack --repeat 3 \
  --min-time 0 --only 64x3x256/split/checks --baseline base.json \
  --save-baseline new.json
ok 'says so' grep -q 'base.json has none of these cases' err
ok 'what was measured is saved' grep -q '"64x3x256/split/checks"' new.json
ok 'a full disk' sh -c 'dflash-bench --list > /dev/full 2> err; test $? = 2'
