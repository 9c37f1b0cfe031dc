/* SPDX-License-Identifier: Apache-2.0 */
/* html.c - see html.h.
 *
 * The style: two palettes (the reader's system chooses), and a pattern for each colour of a
 * plot, so that nothing is told by colour alone.
 */
#include "cli/kit/html.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

/* Whether a character may appear: control characters and invisible ones that change other text may
 * not. */
static bool is_shown(uint32_t code)
{
	return code >= 0x20 && (code < 0x7f || code >= 0xa0) && code != 0x2028 && code != 0x2029 &&
	       !(code >= 0x202a && code <= 0x202e) && !(code >= 0x2066 && code <= 0x2069) &&
	       code != 0x200e && code != 0x200f && code != 0xfeff && (code & 0xfffe) != 0xfffe;
}

void html_text(FILE *out, const char *text, uint32_t most)
{
	size_t left = strlen(text), length;
	for (uint32_t n = 0; left > 0; n++, text += length, left -= length) {
		if (most && n == most) {
			fputs("…", out);
			return;
		}
		uint32_t code;
		length = hwy_utf8_decode(text, left, &code);
		if (length == 0 || !is_shown(code)) {
			fputs("\xef\xbf\xbd", out); /* U+FFFD */
			length = length ? length : 1;
			continue;
		}
		switch (code) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		case '\'': fputs("&#39;", out); break;
		default: fwrite(text, 1, length, out);
		}
	}
}

static const char style[] =
	":root{color-scheme:light dark;--bg:#faf9f6;--card:#fff;--ink:#1c2126;--soft:#5d6670;"
	"--line:#e3e1da;--rail:#eceae4;--compute:#17845a;--comm:#8a4bc4;--copy:#c9730a;--fill:#1f8ea6;"
	"--idle:#a9a59a;--wait:#c43c33;--call:#3367d1;--os:#9a57a8;--bad:#b3261e;--good:#17845a;"
	"--lead:#3367d1}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#121518;--card:#1a1e22;--ink:#e7e9eb;"
	"--soft:#9ba5ae;--line:#2d343a;--rail:#262c31;--compute:#3fb883;--comm:#b98be6;--copy:#eda140;"
	"--fill:#4fc0d6;--idle:#78838c;--wait:#ef7268;--call:#7ba4ff;--os:#c58fd1;--bad:#ff8a80;"
	"--good:#4fc98f;--lead:#7ba4ff}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"
	"\"Segoe UI\",Roboto,\"Noto Sans\",sans-serif;overflow-wrap:anywhere}\n"
	"header,main,footer{max-width:1080px;margin:0 auto;padding:0 24px}\n"
	"header{padding-top:36px}\n"
	"h1{font-size:30px;line-height:1.2;margin:0 0 4px;letter-spacing:-.01em}\n"
	"h2{font-size:19px;margin:34px 0 12px}\n"
	"h3{font-size:17px;margin:0}\n"
	"p{margin:6px 0}\n"
	".soft{color:var(--soft)}\n"
	"code,pre,bdi{unicode-bidi:isolate}\n"
	"code,pre,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\","
	"monospace;font-size:13.5px}\n"
	"pre{background:var(--rail);border-radius:8px;padding:10px 14px;margin:8px 0;"
	"white-space:pre-wrap}\n"
	".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(210px,100%),1fr));gap:14px;"
	"margin:22px 0}\n"
	".tile,article,figure{background:var(--card);border:1px solid var(--line);border-radius:12px}\n"
	".tile{padding:14px 18px}\n"
	".tile b{display:block;font-size:27px;line-height:1.25;letter-spacing:-.015em;"
	"font-variant-numeric:tabular-nums}\n"
	".tile span{color:var(--soft);font-size:14px}\n"
	"figure{margin:0 0 16px;padding:14px 18px}\n"
	"figcaption{font-weight:600;margin-bottom:8px}\n"
	"figcaption span{font-weight:400;color:var(--soft)}\n"
	".pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(400px,100%),1fr));gap:0 16px}\n"
	"svg{display:block;width:100%;height:auto}\n"
	"svg text{fill:var(--soft);font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,"
	"\"Noto Sans\",sans-serif}\n"
	"svg text.strong{fill:var(--ink)}\n"
	".rail{fill:var(--rail)}.axis{stroke:var(--line);fill:none}\n"
	".compute{fill:var(--compute)}.comm{fill:url(#comm)}.copy{fill:url(#copy)}"
	".fill{fill:url(#fill)}.idle{fill:url(#idle)}.wait{fill:url(#wait)}.call{fill:var(--call)}"
	".os{fill:url(#os)}.lead{fill:var(--lead);fill-opacity:.22;stroke:var(--lead);"
	"stroke-width:1.5}\n"
	".before{opacity:.38}.mark{fill:var(--bad)}\n"
	".legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin-top:8px;font-size:14px}\n"
	".legend svg{width:14px;height:14px;display:inline-block;vertical-align:-2px;margin-right:6px;"
	"border-radius:3px}\n"
	"table{border-collapse:collapse;width:100%;font-size:14px}\n"
	"th{font-weight:500;color:var(--soft);text-align:left}\n"
	"td,th{padding:4px 12px 4px 0;border-top:1px solid var(--line);vertical-align:top}\n"
	"tr:first-child td,tr:first-child th{border-top:0}\n"
	".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;width:1%}\n"
	"td.bar{width:30%;padding-top:9px}\n"
	"article{padding:16px 18px;margin:0 0 14px}\n"
	"article>header{display:flex;flex-wrap:wrap;align-items:baseline;gap:2px 12px;padding:0;"
	"max-width:none;margin:0 0 6px}\n"
	"article .cost{margin-left:auto;color:var(--bad);font-weight:600;"
	"font-variant-numeric:tabular-nums}\n"
	"article ul{margin:6px 0;padding-left:22px}\n"
	".number{color:var(--soft);font-weight:600}\n"
	".gain{border-left:3px solid var(--good);padding:2px 0 2px 12px;margin:10px 0}\n"
	".gain b{font-variant-numeric:tabular-nums}\n"
	".verdict{border-left:3px solid var(--good);padding:2px 0 2px 12px;font-weight:600}\n"
	".free>li{margin:6px 0}\n"
	".free{list-style:none;padding:0;margin:0}\n"
	".free>li::before{content:\"✓\";color:var(--good);font-weight:700;margin-right:8px}\n"
	"details{margin-top:8px;font-size:14px}\n"
	"summary{cursor:pointer;color:var(--soft)}\n"
	"footer{color:var(--soft);font-size:14px;padding-top:10px;padding-bottom:40px}\n"
	"@media(max-width:640px){svg text{font-size:18px}header,main,footer{padding-left:14px;"
	"padding-right:14px}}\n"
	"@media print{body{background:#fff}figure,article,.tile{break-inside:avoid}}\n";

/* A pattern consists of lines in the colour of its name over a paler area of the same colour. */
static void put_pattern(FILE *out, const char *name, const char *lines)
{
	fprintf(out,
		"<pattern id=\"%s\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
		"<rect width=\"6\" height=\"6\" fill=\"var(--%s)\" fill-opacity=\".5\"/>"
		"<path d=\"%s\" stroke=\"var(--%s)\" stroke-width=\"2\" fill=\"none\"/></pattern>",
		name, name, lines, name);
}

void html_begin(FILE *out, const char *title, const char *command)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>",
	      out);
	html_text(out, title, 120);
	fprintf(out, " - %s</title>\n<style>\n%s</style>\n</head>\n<body>\n", command, style);
	fputs("<svg width=\"0\" height=\"0\" style=\"position:absolute;width:0;height:0\" "
	      "aria-hidden=\"true\"><defs>",
	      out);
	put_pattern(out, "comm", "M3 0V6M0 3H6");
	put_pattern(out, "copy", "M-1 1L1 -1M0 6L6 0M5 7L7 5");
	put_pattern(out, "fill", "M3 0V6");
	put_pattern(out, "wait", "M-1 5L1 7M0 0L6 6M5 -1L7 1");
	put_pattern(out, "os", "M0 3H6");
	fputs("<pattern id=\"idle\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
	      "<rect width=\"6\" height=\"6\" fill=\"var(--idle)\" fill-opacity=\".25\"/>"
	      "<circle cx=\"3\" cy=\"3\" r=\"1.2\" fill=\"var(--idle)\"/></pattern>"
	      "</defs></svg>\n",
	      out);
}

void html_end(FILE *out)
{
	fputs("</body>\n</html>\n", out);
}
