/* svg.h - drawings for paper: black lines, told apart by dashes and marks.

   Coordinates are points from the upper left corner.  Texts are escaped.  */

#ifndef DF_BENCH_SVG_H
#define DF_BENCH_SVG_H

#include <stddef.h>
#include <stdio.h>

struct svg_point {
    double x, y;
};

enum svg_anchor {
    SVG_LEFT,
    SVG_MIDDLE,
    SVG_RIGHT
};

void svg_begin(FILE *fp, double width, double height);
void svg_end(FILE *fp);

void svg_text(FILE *fp, double x, double y, enum svg_anchor anchor,
              const char *text);
/* The same, upwards.  */
void svg_text_up(FILE *fp, double x, double y, const char *text);

/* Thin and grey, for grids.  */
void svg_rule(FILE *fp, double x0, double y0, double x1, double y1);

/* Points joined and marked in style number STYLE, of eight.  */
void svg_curve(FILE *fp, const struct svg_point *points, size_t n,
               size_t style);

/* A box filled in shade number SHADE, of five.  */
void svg_box(FILE *fp, double x, double y, double width, double height,
             size_t shade);

#endif
