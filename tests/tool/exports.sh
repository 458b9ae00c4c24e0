# The shared library exports what the public headers declare DF_EXPORT.
. "$abs_top_srcdir/tests/init.sh"
lib=$abs_top_builddir/lib/.libs/libdflashcore.so
test -f "$lib" || skip_all 'this build has no shared library'
command -v nm >/dev/null || skip_all 'there is no nm'
plan 3

# After the preprocessor a declaration lasts until its semicolon; the name
# is the identifier before the first parenthesis, or before an array's size.
(cd "$abs_top_srcdir/include" && ls dflash/*.h) \
  | sed 's/.*/#include "&"/' > all.c
${CC:-cc} -E -P -I"$abs_top_srcdir/include" all.c > all.i
tr '\n;' ' \n' < all.i | grep 'visibility("default")' \
  | sed 's/__attribute__ *(([^()]*([^()]*)[^()]*))//g
         s/__attribute__ *(([^()]*))//g' \
  | grep -oE 'df_[a-z0-9_]+ *[([]|df_[a-z0-9_]+ *$' \
  | grep -oE 'df_[a-z0-9_]+' | sort -u > declared
nm -D --defined-only "$lib" | awk '$2 != "A" { print $3 }' \
  | sed 's/@.*//' | sort -u > exported

ok 'the headers declare functions' test -s declared
ok 'all that is declared is exported' \
  run 0 sh -c 'comm -23 declared exported | tee /dev/stderr | (! grep .)'
ok 'all that is exported is declared' \
  run 0 sh -c 'comm -13 declared exported | tee /dev/stderr | (! grep .)'
