# dflash-inspect and files: broken ones, repairing, comparing, showing.
. "$abs_top_srcdir/tests/init.sh"
make=$abs_top_builddir/tests/tool/make-capture
plan 76
has () { grep -q -- "$1" out && return; sed 's/^/# out: /' out; return 1; }
err_has () { grep -q -- "$1" err && return; sed 's/^/# err: /' err; return 1; }

# Files that aren't whole.
"$make" clean.df last=1; "$make" clean.h5 last=1; "$make" split.h5 last=1 split=1
head -c 100000 clean.df > cut.df
ok 'a stream that was cut' run 1 dflash-inspect cut.df
ok '  is said to be' has 'truncated after sample'
ok '  and is a read error' has '^read errors 1,'
"$make" hole.h5 hole=1
ok 'rows never stored' run 1 dflash-inspect hole.h5
ok '  are said' has '^hole.h5: loss_mask: rows 0 to 284 were never stored'
ok '  and are nulls' has 'nulls 1,'
ok 'samples twice' run 1 dflash-inspect clean.df clean.h5
ok '  are said' has 'is there twice'
ok '  and count once' has '^6 samples, 6 good'
"$make" more.df last=1 first=6
ok 'several files are one capture' run 0 dflash-inspect clean.h5 more.df
ok '  of all samples' has '^12 samples, 12 good'
echo nothing > nothing
ok 'what is no capture is trouble' run 2 dflash-inspect nothing
ok '  and said' err_has 'nothing: '
ok 'so is no file' run 2 dflash-inspect absent.h5
ok '  by name' err_has 'absent.h5: '
ok 'and no word' run 2 dflash-inspect
"$make" other.h5 hidden=32
ok 'captures of several models' run 2 dflash-inspect clean.h5 other.h5
ok "  don't belong together" has "belong together: hidden_size"
for file in nothing absent.h5 broken.h5; do
  head -c 20000 clean.h5 > broken.h5
  ok "$file among others is trouble" \
    run 2 dflash-inspect clean.h5 $file more.df
  ok '  by name' has "^$file: "
  ok '  and the others are looked over' has '^12 samples, 12 good'
done
ok 'of several files that are none' run 2 dflash-inspect nothing absent.h5
ok '  each is named' sh -c 'grep -q nothing: err && grep -q absent.h5: err'
ok 'a finding beside trouble is told' run 2 dflash-inspect cut.df absent.h5
ok '  as well' has 'truncated after sample'
# In the file format that HDF5 and h5py have by themselves.
cp clean.h5 old.h5
printf '\0' | dd of=old.h5 bs=1 seek=8 conv=notrunc 2> /dev/null
ok 'HDF5 without checksums of its metadata is refused' \
  run 2 dflash-inspect old.h5
ok '  with what to do' err_has "superblock of version 0, not 3: .*libver='v110'"

# Repairing.
bad='nan@1.0.3-3 late-zero@4.2.0-1'
for end in h5 df; do
  "$make" bad.$end last=1 $bad
  ok "repairing bad.$end" run 1 dflash-inspect --repair good.$end bad.$end
  ok '  writes the good samples' has '^4 samples written to good'
  ok '  which are clean' run 0 dflash-inspect good.$end
done
dflash-inspect --repair across.df bad.h5 > /dev/null
ok 'into the other format' cmp across.df good.df
ok 'an old file stays' run 2 dflash-inspect --repair good.df bad.df
ok '  unless it may go' run 1 dflash-inspect --force --repair good.df bad.df
ok 'what is read never goes' \
  run 2 dflash-inspect --force --repair bad.df bad.df
ok '  as is said' err_has 'into another file'
ok '  and is there' run 1 dflash-inspect bad.df
check () { run 2 dflash-inspect --force --repair bad.df - < bad.df; }
ok '  also if it comes on standard input' check
ok '    as is said' err_has 'into another file'
ok '  or is compared with' \
  run 2 dflash-inspect --force --repair good.df bad.df --compare good.df
ok '    as is said' err_has 'into another file'
ok '    and is there' run 0 dflash-inspect good.df
dflash-inspect --repair rest.h5 cut.df > /dev/null
ok 'a stream that was cut gives what it has' run 0 dflash-inspect rest.h5

# A report that can't be written is no reason to leave good samples out.
many=`awk 'BEGIN { for (i = 0; i < 60; i++) printf " nan@%d.0.1-1 inf@%d.2.1-1", i, i }'`
"$make" many.df samples=70 tokens=4 grow=0 $many
dflash-inspect --repair most.df many.df > /dev/full 2> err
ok 'a report that finds no room is trouble' test $? = 2
ok '  but all good samples are there' run 0 dflash-inspect most.df
ok '    as many as there were' has '^10 samples, 10 good'

# Comparing.
ok 'equal captures' run 0 dflash-inspect clean.h5 --compare clean.df
ok '  are equal' has '^layer 9 *285 *285 *0 '
"$make" near.h5 last=1 split=1 noise=10
ok 'captures near each other' run 0 dflash-inspect near.h5 --compare clean.df
ok '  are so in each layer' has '^last hidden state  *285 .* 0.00[0-9]* '
ok 'but not for a small limit' \
  run 1 dflash-inspect near.h5 --compare clean.df --limit 0.001
"$make" far.h5 last=1 noise=200
ok 'captures far from each other' \
  run 1 dflash-inspect far.h5 --compare clean.df
"$make" ids.df last=1 id=1
ok 'captures of other tokens' run 1 dflash-inspect ids.df --compare clean.df
ok '  are said' has 'sample 0 (id 0): other tokens from token 0 on'
ok 'a sample that is missing' run 1 dflash-inspect more.df --compare clean.df
ok '  is said' has 'clean.df: sample 6 (id 393216): missing'

# Showing.
ok 'a sample by index' run 0 dflash-inspect --dump 2 clean.h5
ok '  has its mask' has '^ *23-45 \* "'
ok '  and its length' has '^sample 2 (id 131072): 46 tokens, 23 supervised'
ok 'a sample by id, from a pipe' \
  sh -c 'dflash-inspect --dump id:131072 - < clean.df | cmp - out'
LC_ALL=C sed 's/{"index":"1"/?"index":"1"/' clean.df > spoilt.df
ok '  also behind one that is bad' \
  sh -c 'dflash-inspect --dump 2 - < spoilt.df | grep -q "^sample 2"'
ok 'a sample by a large id' run 2 dflash-inspect \
  --dump id:18446744073709551615 clean.h5
ok '  which is none' err_has 'no sample of id 18446744073709551615'
ok 'an id above all' run 2 dflash-inspect \
  --dump id:18446744073709551616 clean.h5
ok '  is refused' err_has 'is neither an index nor id:N'
ok 'as text' run 0 dflash-inspect --dump 2 clean.h5 \
  --target "$abs_top_srcdir/share/demo/target" --json
ok '  in JSON' has '"loss_mask":1,"text":"'
ok 'no such sample' run 2 dflash-inspect --dump 99 clean.h5
