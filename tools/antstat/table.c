// SPDX-License-Identifier: GPL-2.0-only
/* Tables whose columns are wide enough, and do not become narrower again. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "antstat.h"

static size_t nr_columns(const struct table *table)
{
	size_t nr = 0;

	while (table->columns[nr].head)
		nr++;
	return nr;
}

/* The next cell of the last row, or the first one of another. */
void table_cell(struct table *table, const char *fmt, ...)
{
	va_list args;
	char *cell;

	va_start(args, fmt);
	if (vasprintf(&cell, fmt, args) < 0)
		die(STATUS_ERROR, "out of memory");
	va_end(args);
	table->cells = xrealloc(table->cells, table->nr + 1, sizeof(cell));
	table->cells[table->nr++] = cell;
}

/* "-" is a file that this pool does not have, "?" one that makes no sense. */
void table_value(struct table *table, const struct pool *pool,
		 enum field field)
{
	const struct value *value = &pool->value[field];

	switch (value->type) {
	case VALUE_ABSENT:
		table_cell(table, "-");
		break;
	case VALUE_BAD:
		table_cell(table, "?");
		break;
	case VALUE_MAX:
		table_cell(table, "max");
		break;
	case VALUE_NUMBER:
		table_cell(table, "%s%llu", value->negative ? "-" : "",
			   value->number);
		break;
	case VALUE_TEXT:
		table_cell(table, "%s", safe(value->text));
	}
}

static void widen(int *width, const char *text)
{
	int len = strlen(text);

	if (*width < len)
		*width = len;
}

static void table_widths(struct table *table)
{
	size_t i, nr = nr_columns(table);

	if (!table->width) {
		table->width = xrealloc(NULL, nr, sizeof(*table->width));
		memset(table->width, 0, nr * sizeof(*table->width));
	}
	for (i = 0; i < nr; i++)
		widen(&table->width[i], table->columns[i].head);
	for (i = 0; i < table->nr; i++)
		widen(&table->width[i % nr], table->cells[i]);
}

/* The last column of a line ends with its text. */
static void print_cell(const struct table *table, size_t column,
		       const char *text)
{
	const struct column *next = &table->columns[column + 1];
	int width = table->width[column];

	if (!table->columns[column].left)
		printf("%*s", width, text);
	else if (next->head)
		printf("%-*s", width, text);
	else
		fputs(text, stdout);
	fputs(next->head ? "  " : "\n", stdout);
}

/* Prints all rows, and begins with the names of the columns if @heads. */
void table_print(struct table *table, bool heads)
{
	size_t i, nr = nr_columns(table);

	table_widths(table);
	for (i = 0; heads && i < nr; i++)
		print_cell(table, i, table->columns[i].head);
	for (i = 0; i < table->nr; i++) {
		print_cell(table, i % nr, table->cells[i]);
		free(table->cells[i]);
	}
	table->nr = 0;
}

void table_free(struct table *table)
{
	free(table->cells);
	free(table->width);
}
