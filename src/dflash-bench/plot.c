/* Bandwidth over size, a curve a depth, a panel a kind of copy; and bars of
   the parts of a time.  */

#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/progress.h"
#include "dflash-bench/bench.h"
#include "dflash-bench/svg.h"

enum {
    WIDTH = 520, /* points; a page of A4 has 595 */
    PANEL = 230,
    LEFT = 60,
    RIGHT = 90, /* for the legend */
    TOP = 24,
    BOTTOM = 34,
    BAR = 16,
    NAME = 200,
    VALUE = 62,
    MAX_PANELS = 64,
    MAX_POINTS = 32
};

/* A panel: the copies whose names differ in size and depth alone.  */
struct panel {
    char title[96];
    double most;            /* GB/s */
    double smallest, large; /* bytes */
};

struct plot {
    const struct results *results;
    struct panel panels[MAX_PANELS];
    size_t n_panels, n_bars;
    double most_seconds; /* of a bar */
    FILE *fp;
};

static bool
is_copy(const struct result *r)
{
    return r->n > 0 && strcmp(r->suite, "copy") == 0;
}

static bool
has_parts(const struct result *r)
{
    for (size_t i = 0; r->n > 0 && i < r->n_extras; i++)
        if (r->extras[i].part)
            return true;
    return false;
}

/* "d2h/pinned/16MiB/depth2/product" without size and depth.  */
static void
title_of(const struct result *r, char *title, size_t bytes)
{
    const char *depth = strstr(r->name, "/depth"), *size = depth, *rest;

    while (size && size > r->name && size[-1] != '/')
        size--;
    rest = depth ? strchr(depth + 1, '/') : NULL;
    snprintf(title, bytes, "%s: %.*s%s", r->device,
             size > r->name ? (int) (size - 1 - r->name) : 0, r->name,
             rest ? rest : "");
}

static void
add_to_panel(struct plot *p, const struct result *r)
{
    double bytes = result_get(r, "bytes"), rate = result_rate(r);
    char title[96];
    size_t i = 0;

    title_of(r, title, sizeof title);
    while (i < p->n_panels && strcmp(p->panels[i].title, title) != 0)
        i++;
    if (i == MAX_PANELS)
        return;
    struct panel *panel = &p->panels[i];

    if (i == p->n_panels) {
        p->n_panels++;
        snprintf(panel->title, sizeof panel->title, "%s", title);
        panel->smallest = panel->large = bytes;
    }
    panel->most = fmax(panel->most, rate);
    panel->smallest = fmin(panel->smallest, bytes);
    panel->large = fmax(panel->large, bytes);
}

static void
look(struct plot *p)
{
    for (size_t i = 0; i < p->results->n; i++) {
        const struct result *r = p->results->items[i];

        if (is_copy(r))
            add_to_panel(p, r);
        if (!has_parts(r))
            continue;
        p->n_bars++;
        p->most_seconds = fmax(p->most_seconds, r->s.median);
    }
}

/* 1, 2 or 5 times a power of 10, of which about four make MOST.  */
static double
step_for(double most)
{
    double power = pow(10, floor(log10(most / 4))), part = most / 4 / power;

    return power * (part < 2 ? 1 : part < 5 ? 2 : 5);
}

static double
x_of(const struct panel *panel, double bytes)
{
    double span = log2(panel->large / panel->smallest);

    return LEFT
           + (WIDTH - LEFT - RIGHT)
                 * (span > 0 ? log2(bytes / panel->smallest) / span : 0.5);
}

static double
y_of(const struct panel *panel, double top, double rate)
{
    return top + TOP
           + (PANEL - TOP - BOTTOM) * (1 - rate / (1.05 * panel->most));
}

static void
draw_axes(FILE *fp, const struct panel *panel, double top)
{
    double bottom = y_of(panel, top, 0), step = step_for(panel->most);
    char text[32];

    svg_text(fp, LEFT, top + TOP - 8, SVG_LEFT, panel->title);
    for (double v = 0; v <= 1.05 * panel->most; v += step) {
        double y = y_of(panel, top, v);

        svg_rule(fp, LEFT, y, WIDTH - RIGHT, y);
        snprintf(text, sizeof text, "%g", v);
        svg_text(fp, LEFT - 5, y + 3, SVG_RIGHT, text);
    }
    for (double b = panel->smallest; b <= panel->large; b *= 4) {
        double x = x_of(panel, b);

        svg_rule(fp, x, top + TOP, x, bottom);
        svg_text(fp, x, bottom + 12, SVG_MIDDLE, format_bytes(b).text);
    }
    svg_text(fp, (LEFT + WIDTH - RIGHT) / 2.0, bottom + 25, SVG_MIDDLE,
             "bytes a copy");
    svg_text_up(fp, 14, (top + TOP + bottom) / 2, "GB/s");
}

static int
by_x(const void *a, const void *b)
{
    double x = ((const struct svg_point *) a)->x;
    double y = ((const struct svg_point *) b)->x;

    return (x > y) - (x < y);
}

/* The points of DEPTH in PANEL.  */
static size_t
collect(const struct plot *p, const struct panel *panel, double top,
        double depth, struct svg_point *points)
{
    char title[96];
    size_t n = 0;

    for (size_t i = 0; i < p->results->n && n < MAX_POINTS; i++) {
        const struct result *r = p->results->items[i];

        if (!is_copy(r) || result_get(r, "depth") < depth
            || result_get(r, "depth") > depth)
            continue;
        title_of(r, title, sizeof title);
        if (strcmp(title, panel->title) == 0)
            points[n++] =
                (struct svg_point){x_of(panel, result_get(r, "bytes")),
                                   y_of(panel, top, result_rate(r))};
    }
    qsort(points, n, sizeof *points, by_x);
    return n;
}

static void
draw_panel(const struct plot *p, const struct panel *panel, double top)
{
    struct svg_point points[MAX_POINTS], sample[2];
    size_t style = 0;
    char text[32];

    draw_axes(p->fp, panel, top);
    for (int depth = 1; depth <= 64; depth++) {
        size_t n = collect(p, panel, top, depth, points);
        double y = top + TOP + 8 + 14 * (double) style;

        if (n == 0)
            continue;
        svg_curve(p->fp, points, n, style);
        sample[0] = (struct svg_point){WIDTH - RIGHT + 8, y};
        sample[1] = (struct svg_point){WIDTH - RIGHT + 32, y};
        svg_curve(p->fp, sample, 2, style++);
        snprintf(text, sizeof text, "depth %d", depth);
        svg_text(p->fp, WIDTH - RIGHT + 40, y + 3, SVG_LEFT, text);
    }
}

/* The parts of R one behind the other, with their names where they fit.  */
static void
draw_bar(const struct plot *p, const struct result *r, double y)
{
    double x = NAME, scale = (WIDTH - NAME - VALUE) / (p->most_seconds * 1e6);
    char text[96];

    snprintf(text, sizeof text, "%s %s", r->suite, r->name);
    svg_text(p->fp, NAME - 5, y + BAR - 5, SVG_RIGHT, text);
    for (size_t i = 0, shade = 0; i < r->n_extras; i++) {
        const struct extra *e = &r->extras[i];
        double width = e->part ? fmax(0, e->value) * scale : 0;

        if (!e->part)
            continue;
        svg_box(p->fp, x, y, width, BAR - 4, 1 + shade++ % 4);
        snprintf(text, sizeof text, "%s", e->key);
        if (width > 5 * (double) strlen(text))
            svg_text(p->fp, x + 3, y + BAR - 7, SVG_LEFT, text);
        x += width;
    }
    snprintf(text, sizeof text, "%.0f us", r->s.median * 1e6);
    svg_text(p->fp, WIDTH - 2, y + BAR - 5, SVG_RIGHT, text);
}

static void
draw(struct plot *p)
{
    double top = (double) (p->n_panels * PANEL);

    svg_begin(p->fp, WIDTH, top + (double) (p->n_bars * BAR) + TOP + 10);
    for (size_t i = 0; i < p->n_panels; i++)
        draw_panel(p, &p->panels[i], (double) (i * PANEL));
    if (p->n_bars > 0)
        svg_text(p->fp, LEFT, top + TOP - 8, SVG_LEFT, "time by part");
    top += TOP;
    for (size_t i = 0; i < p->results->n; i++)
        if (has_parts(p->results->items[i])) {
            draw_bar(p, p->results->items[i], top);
            top += BAR;
        }
    svg_end(p->fp);
}

df_status
plot_results(const struct results *results, const char *path)
{
    struct plot *p = calloc(1, sizeof *p);
    df_status status = DF_OK;

    if (!p)
        return DF_FAIL(DF_NO_MEMORY, "plot");
    p->results = results;
    look(p);
    p->fp = fopen(path, "w");
    if (p->fp)
        draw(p);
    if (!p->fp || ferror(p->fp) || fclose(p->fp) != 0)
        status = DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    free(p);
    return status;
}
