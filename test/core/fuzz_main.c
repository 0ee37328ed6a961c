// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz -max_total_time=SECONDS -seed=SEED, or fuzz FILE...: like libFuzzer, but
 * with random inputs; the last one is left in crash-input.
 */
#include <linux/types.h>

#include "fuzz.h"
#include "shim.h"

#define MAX_LEN		256

static void one_input(const u8 *data, size_t size)
{
	FILE *f = fopen("crash-input", "wb");

	if (!f)
		abort();
	fwrite(data, 1, size, f);
	fclose(f);
	FUZZ_ENTRY(data, size);
}

static void one_file(const char *name)
{
	FILE *f = fopen(name, "rb");
	u8 data[MAX_LEN];

	if (!f)
		abort();
	FUZZ_ENTRY(data, fread(data, 1, sizeof(data), f));
	fclose(f);
}

static unsigned long random_inputs(unsigned int seed, unsigned int seconds)
{
	time_t end = time(NULL) + seconds;
	unsigned long nr = 0;
	u8 data[MAX_LEN];
	size_t i, size;

	while (time(NULL) < end) {
		size = 1 + rand_r(&seed) % (MAX_LEN - 1);
		for (i = 0; i < size; i++)
			data[i] = rand_r(&seed) >> 8;
		one_input(data, size);
		nr++;
	}
	remove("crash-input");
	return nr;
}

int main(int argc, char **argv)
{
	unsigned int seconds = 0, seed = 1;
	int i;

	for (i = 1; i < argc; i++) {
		if (sscanf(argv[i], "-max_total_time=%u", &seconds) == 1 ||
		    sscanf(argv[i], "-seed=%u", &seed) == 1 ||
		    argv[i][0] == '-')
			continue;
		one_file(argv[i]);
	}
	if (seconds)
		printf("Done %lu runs\n", random_inputs(seed, seconds));
	return 0;
}
