// SPDX-License-Identifier: GPL-2.0-only
/*
 * The name of a pool may hold any byte but "/" and 0. Nothing of it may act on a
 * terminal, or break a line or a JSON document.
 */
#include <stdio.h>
#include <string.h>

#include "antstat.h"

#define SAFE_LEN	1100	/* a file name of 255 bytes, each as \xNN */
#define SAFE_BUFFERS	4

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '\\';
}

/*
 * @text for a terminal: what is not printable ASCII as \xNN. Good until the
 * fourth call after; what is too long is cut.
 */
const char *safe(const char *text)
{
	static char buffers[SAFE_BUFFERS][SAFE_LEN + 5];
	static unsigned int next;
	char *to = buffers[next++ % SAFE_BUFFERS];
	size_t len = 0;

	for (; *text && len < SAFE_LEN; text++) {
		if (is_plain(*text))
			to[len++] = *text;
		else
			len += sprintf(to + len, "\\x%02x",
				       (unsigned char)*text);
	}
	to[len] = '\0';
	return to;
}

/* How many bytes follow the first one of a character in UTF-8, or -1. */
static int utf8_tail(unsigned char c)
{
	if (c < 0x80)
		return 0;
	if (c >= 0xc2 && c <= 0xdf)
		return 1;
	if (c >= 0xe0 && c <= 0xef)
		return 2;
	if (c >= 0xf0 && c <= 0xf4)
		return 3;
	return -1;
}

/* The second byte excludes long forms, surrogates and what is beyond U+10FFFF. */
static bool utf8_second(unsigned char first, unsigned char c)
{
	unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

	return c >= low && c <= high;
}

/* The length of the character at @s, 0 if it is not one. */
static int utf8_len(const unsigned char *s)
{
	int i, tail = utf8_tail(s[0]);

	if (tail < 0 || (tail && !utf8_second(s[0], s[1])))
		return 0;
	for (i = 2; i <= tail; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return tail + 1;
}

static void print_json_char(unsigned char c)
{
	if (c == '"' || c == '\\')
		printf("\\%c", c);
	else if (c < 0x20 || c == 0x7f)
		printf("\\u%04x", c);
	else
		putchar(c);
}

/* U+0080 to U+009f, some of which begin an escape sequence */
static bool is_control(const unsigned char *s)
{
	return s[0] == 0xc2 && s[1] < 0xa0;
}

/* What is not UTF-8 becomes U+FFFD, byte by byte. */
void print_json_string(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	int len;

	putchar('"');
	while (*s) {
		len = utf8_len(s);
		if (len == 1)
			print_json_char(*s);
		else if (len == 2 && is_control(s))
			printf("\\u%04x", s[1]);
		else if (len)
			fwrite(s, 1, len, stdout);
		else
			fputs("\\ufffd", stdout);
		s += len ? len : 1;
	}
	putchar('"');
}
