#include <config.h>

#include "dflash-bench/svg.h"

void
svg_begin(FILE *fp, double width, double height)
{
    fprintf(fp,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%gpt\" "
            "height=\"%gpt\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" "
            "font-size=\"9\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, height, width, height);
}

void
svg_end(FILE *fp)
{
    fputs("</svg>\n", fp);
}

static void
escaped(FILE *fp, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", fp);
        else if (*text == '>')
            fputs("&gt;", fp);
        else if (*text == '&')
            fputs("&amp;", fp);
        else
            putc(*text, fp);
}

void
svg_text(FILE *fp, double x, double y, enum svg_anchor anchor,
         const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};

    fprintf(fp, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
            anchors[anchor]);
    escaped(fp, text);
    fputs("</text>\n", fp);
}

void
svg_text_up(FILE *fp, double x, double y, const char *text)
{
    fprintf(fp,
            "<text transform=\"translate(%.1f %.1f) rotate(-90)\" "
            "text-anchor=\"middle\">",
            x, y);
    escaped(fp, text);
    fputs("</text>\n", fp);
}

void
svg_rule(FILE *fp, double x0, double y0, double x1, double y1)
{
    fprintf(fp,
            "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#bbb\" "
            "stroke-width=\"0.5\"/>\n",
            x0, y0, x1, y1);
}

/* Mark number I % 4 around P: circle, square, triangle, cross; the second
   four are filled.  */
static void
mark(FILE *fp, struct svg_point p, size_t i)
{
    static const char *const shapes[] = {
        "m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0z",
        "m-2.3 -2.3h4.6v4.6h-4.6z",
        "m0 -3l2.8 5h-5.6z",
        "m-2.5 -2.5l5 5m0 -5l-5 5",
    };

    fprintf(fp,
            "<path d=\"M%.1f %.1f%s\" stroke=\"black\" stroke-width=\"0.8\" "
            "fill=\"%s\"/>\n",
            p.x, p.y, shapes[i % 4], i % 8 < 4 ? "white" : "black");
}

void
svg_curve(FILE *fp, const struct svg_point *points, size_t n, size_t style)
{
    static const char *const dashes[] = {"none", "6 2", "2 2", "8 2 2 2"};

    fprintf(fp,
            "<path fill=\"none\" stroke=\"black\" stroke-width=\"1\" "
            "stroke-dasharray=\"%s\" d=\"",
            dashes[style % 4]);
    for (size_t i = 0; i < n; i++)
        fprintf(fp, "%c%.1f %.1f", i ? 'L' : 'M', points[i].x, points[i].y);
    fputs("\"/>\n", fp);
    for (size_t i = 0; i < n; i++)
        mark(fp, points[i], style);
}

void
svg_box(FILE *fp, double x, double y, double width, double height,
        size_t shade)
{
    static const char *const shades[] = {"#444", "#ddd", "#888", "#bbb",
                                         "#fff"};

    fprintf(fp,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
            "fill=\"%s\" stroke=\"black\" stroke-width=\"0.6\"/>\n",
            x, y, width, height, shades[shade % 5]);
}
