info_TEXINFOS += doc/dflash.texi
