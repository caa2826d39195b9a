# Draws files of lines "iteration loss" as curves into one SVG, each named like its file without ".losses".
BEGIN {
  split("#06c #b22 #284", colour, " ")
  left = 48; right = 704; top = 20; bottom = 280
}
{ x[FILENAME, ++count[FILENAME]] = $1; y[FILENAME, count[FILENAME]] = $2 }
FNR == 1 { name[++files] = FILENAME }
NR == 1 || $2 < least { least = $2 }
NR == 1 || $2 > most { most = $2 }
$1 > last { last = $1 }
function across(value) { return left + (right - left) * value / last }
function down(value) { return bottom - (bottom - top) * (value - floor) / (ceiling - floor) }
END {
  floor = int(least); ceiling = int(most) + 1
  print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 320\" font-family=\"sans-serif\" font-size=\"12\">"
  print "<rect width=\"720\" height=\"320\" fill=\"#fff\"/>"
  for (value = floor; value <= ceiling; ++value)
    printf "<path d=\"M%d %.0fH%d\" stroke=\"#ddd\"/><text x=\"40\" y=\"%.0f\" text-anchor=\"end\">%d</text>\n",
      left, down(value), right, down(value) + 4, value
  for (part = 0; part <= 4; ++part)
    printf "<text x=\"%.0f\" y=\"300\" text-anchor=\"middle\">%d</text>\n", across(last * part / 4), last * part / 4
  printf "<text x=\"%d\" y=\"316\" text-anchor=\"middle\">iteration</text>\n", (left + right) / 2
  for (file = 1; file <= files; ++file) {
    path = ""
    for (i = 1; i <= count[name[file]]; ++i)
      path = path sprintf("%s%.1f %.1f", i == 1 ? "M" : "L", across(x[name[file], i]), down(y[name[file], i]))
    printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n", path, colour[file]
    label = name[file]
    sub(/\.losses$/, "", label)
    printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"%s\">%s: %.3f</text>\n", right, 20 + 16 * file, colour[file], label,
      y[name[file], count[name[file]]]
  }
  print "</svg>"
}
