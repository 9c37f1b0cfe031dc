"""analyze_html_check.py PAGE [TEXT ...]: the page is well-formed, refers to nothing outside itself, runs no
script, and shows these texts."""
import html.parser
import sys

VOID = {"meta", "br", "img", "link", "input", "hr"}
ALLOWED = set("""html head meta title style body header main footer section article figure figcaption div p span b
h1 h2 h3 ul li table tr th td code pre bdi br details summary svg defs pattern rect path circle g text""".split())


class Checker(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.problems, self.text, self.ids = [], [], [], set()

    def problem(self, what):
        self.problems.append("line %d: %s" % (self.getpos()[0], what))

    def handle_starttag(self, tag, attrs, closed=False):
        if tag not in ALLOWED:
            self.problem("unexpected element <%s>" % tag)
        for name, value in attrs:
            value = value or ""
            if name.startswith("on") or name in ("href", "src", "xlink:href", "srcset", "action"):
                self.problem("attribute %s" % name)
            if "url(" in value and "url(#" not in value:
                self.problem("a reference: %s" % value)
            if name == "id":
                if value in self.ids:
                    self.problem("id %s twice" % value)
                self.ids.add(value)
            if "nan" in value.split() or "inf" in value.split():
                self.problem("no number: %s" % value)
        if tag not in VOID and not closed:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs, closed=True)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problem("</%s> closes nothing" % tag)

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            for word in ("@import", "url(h", "url('", 'url("', "//"):
                if word in data:
                    self.problem("the style refers to something: %s" % word)
        else:
            self.text.append(data)


def main():
    with open(sys.argv[1], encoding="utf-8") as page:
        source = page.read()
    checker = Checker()
    checker.feed(source)
    checker.close()
    if checker.open:
        checker.problems.append("not closed: %s" % checker.open)
    if not source.startswith("<!DOCTYPE html>\n"):
        checker.problems.append("no doctype")
    if any(ord(c) < 32 and c not in "\n\t" or ord(c) in range(0x7F, 0xA0) or ord(c) in range(0x202A, 0x202F)
           for c in source):
        checker.problems.append("control characters")
    text = "".join(checker.text)
    for wanted in sys.argv[2:]:
        if wanted not in text:
            checker.problems.append("the page lacks '%s'" % wanted)
    print("\n".join(checker.problems[:20]))
    return 1 if checker.problems else 0


sys.exit(main())
