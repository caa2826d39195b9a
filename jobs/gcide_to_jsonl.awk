# The dictionary of Debian's dict-gcide (Webster 1913, public text under the GPL) as JSONL: one entry, one document of plain prose.
# Entries with damaged marks or bytes outside ASCII (a few) are left out.
# usage: gzip -dc < gcide.dict.dz | LC_ALL=C awk -f gcide_to_jsonl.awk > gcide.jsonl
# An entry begins with its headword in the first column, followed by its pronunciation between backslashes:
#   Heredity \He*red"i*ty\, n. [L. hereditas heirship.] (Biol.)
#      Hereditary transmission of the physical and psychical qualities of parents to their offspring; ...
# becomes {"text":"Heredity, n. (Biol.) Hereditary transmission of the physical and psychical qualities ..."}

function emit(   text) {
  text = entry
  entry = ""
  gsub(/\\[^\\]*\\/, "", text)                        # pronunciations
  text = gensub_letters(text)
  while (sub(/\[[^][]*\]/, "", text)) { }            # etymologies, usage marks and sources, innermost first
  gsub(/\([^()]*[*?"`][^()]*\)/, "", text)           # pronunciations in another notation
  gsub(/[{}]/, "", text)                             # cross references
  gsub(/[ \t]+/, " ", text)
  gsub(/ ,/, ",", text)
  gsub(/ \./, ".", text)
  sub(/^ /, "", text)
  sub(/ $/, "", text)
  if (length(text) < 60 || text ~ /[][\\]|[^ -~]/) {
    return
  }
  gsub(/"/, "\\\"", text)
  printf "{\"text\":\"%s\"}\n", text
}

# [ae] and the like are letters with marks: keep the letters.
function gensub_letters(text) {
  gsub(/\[ae\]/, "ae", text)
  gsub(/\[oe\]/, "oe", text)
  while (match(text, /\[['`^"=~,-][A-Za-z]\]/)) {
    text = substr(text, 1, RSTART - 1) substr(text, RSTART + 2, 1) substr(text, RSTART + 4)
  }
  while (match(text, /\[[A-Za-z]['`^"=~,-]\]/)) {
    text = substr(text, 1, RSTART - 1) substr(text, RSTART + 1, 1) substr(text, RSTART + 4)
  }
  return text
}

/^00-database/ { next }
/^[^ \t].*\\[^\\]*\\/ { emit(); started = 1 }
!started { next }
/^[^ \t]/ && entry != "" { emit(); started = 0; next }
{
  # Behind the source mark of an entry's last sense the file repeats the next headword.
  if (match($0, /\[(1913 Webster|Webster 1913 Suppl\.|PJC|WordNet [0-9.]*)[^]]*\]/)) {
    $0 = substr($0, 1, RSTART - 1)
  }
  entry = entry " " $0
}
END { emit() }
