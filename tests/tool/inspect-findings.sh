# What dflash-inspect finds in files of both formats, and how it says so.
. "$abs_top_srcdir/tests/init.sh"
make=$abs_top_builddir/tests/tool/make-capture
plan 51

# says LINE: out has this line, @ standing for the file.
says () {
  printf '%s\n' "$1" | sed "s|@|$file|" > want
  grep -Fxqf want out && return
  sed 's/^/# wanted: /' want; sed 's/^/#    got: /' out; return 1
}

audit='read errors 0, nulls 0, length mismatches 0, invalid ids 0'
audit="$audit, non-binary masks 0, zero-supervision rows 0"
for file in clean.h5 clean.df; do
  "$make" $file last=1
  ok "$file is clean" run 0 dflash-inspect $file
  ok '  and counted' \
    says '6 samples, 6 good; 285 tokens, 144 supervised; 0 findings'
  ok '  in six ways' says "$audit"
done

# One kind a line: words of make-capture, what is said.
cat > cases <<'END'
nan@2.1.0-0|@: sample 2 (id 131072): layer 9: token 0: NaN: 1 values
inf@5.2.54-54|@: sample 5 (id 327680): layer 17: token 54: infinity: 1 values
zero@0.0.0-39|@: sample 0 (id 0): layer 1: tokens 0-39: rows of zeros
constant@1.0.7-8|@: sample 1 (id 65536): layer 1: tokens 7-8: rows of one value: 1
poison@1.3.7-8|@: sample 1 (id 65536): last hidden state: tokens 7-8: a pattern of memory that nobody filled: 0xcdcd, 128 values
from1@4.2.10-20|@: sample 4 (id 262144): layer 17: tokens 10-20: rows equal to rows of other tokens: 11: equal to sample 1 (id 65536), layer 17, tokens 10-20
late-from1@4.2.10-20|@: sample 4 (id 262144): layer 17: tokens 10-20: rows that don't agree with their checks: equal to sample 1 (id 65536), layer 17, tokens 10-20
late-from4@1.2.10-20|@: sample 4 (id 262144): layer 17: tokens 10-20: rows that were found in the wrong place: found in sample 1 (id 65536), layer 17, tokens 10-20
late-nan@3.1.48-48|@: sample 3 (id 196608): layer 9: token 48: rows that don't agree with their checks
unmask=5|@: sample 5 (id 327680): loss mask without a place for an anchor
END
while IFS='|' read -r words line; do
  for file in bad.h5 bad.df; do
    "$make" $file last=1 split=1 $words
    ok "$words in $file" run 1 dflash-inspect $file
    ok '  is said' says "$line"
  done
done < cases

# Ids, by the vocabulary of the model.
file=ids.df
"$make" $file vocab=0 id=100000
ok 'without a vocabulary any id may be' run 0 dflash-inspect $file
ok '  a target has one' run 1 dflash-inspect $file \
  --target "$abs_top_srcdir/share/demo/target"
ok '  and the id is said' says \
  '@: sample 0 (id 0): token 0: token ids outside the vocabulary: 100000'

# No more lines than wanted, but all are counted.
"$make" many.df nan@0.0.0-0 nan@0.0.2-2 nan@0.0.4-4 nan@1.0.0-0
run 1 dflash-inspect --max-findings 2 many.df
ok 'findings of a kind are limited' test "`grep -c ': 1 values' out`" = 2
ok '  and counted' says '2 more findings: NaN'
