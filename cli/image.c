/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image.c - the rules of images: architecture, state, and the Slurm release inside.
 *
 * slurmctld talks with a slurmd of its own release or of the two before it, never with a newer one. The image says its release
 * by a tag; an image that says nothing is refused unless the site takes the risk itself.
 */
#include "cli/image.h"

#include "conf/slurm_files.h"
#include "lib/base/err.h"

#include <string.h>

/* Slurm's major releases, since they do not count in steps of one. Later ones come at 5 and 11 of each year. */
static const int releases[] = { 2011, 2108, 2205, 2302, 2311, 2405, 2411, 2505, 2511, 2605 };

static int release_index(int version)
{
	int n = (int)(sizeof(releases) / sizeof(releases[0]));

	for (int i = 0; i < n; i++) {
		if (releases[i] == version)
			return i;
	}
	if (version <= releases[n - 1])
		return -1;
	return n - 1 + 2 * (version / 100 - releases[n - 1] / 100) + (version % 100 > 5);
}

int image_release_distance(const char *head, const char *inside)
{
	int a = release_index(slurmfiles_version_number(head)), b = release_index(slurmfiles_version_number(inside));

	return a < 0 || b < 0 ? -99 : a - b;
}

static int release_fits(const char *head, const char *inside)
{
	int d = inside ? image_release_distance(head, inside) : -99;

	return d >= 0 && d <= 2;
}

const struct ec2_image *image_newest(const struct ec2_images *all, const char *arch, const char *head_version)
{
	const struct ec2_image *best = NULL;

	for (size_t i = 0; all && i < all->n; i++) {
		const struct ec2_image *m = &all->v[i];

		if (!str_eq(m->state, "available") || !str_eq(m->arch, arch) || !release_fits(head_version, m->slurm_version))
			continue;
		/* creation is ISO 8601 in UTC, so text order is time order */
		if (!best || strcmp(m->creation ? m->creation : "", best->creation ? best->creation : "") > 0)
			best = m;
	}
	return best;
}

int image_judge(const struct ec2_image *i, const char *arch, const char *head_version, int accept_untagged, struct err *e)
{
	if (i->state && strcmp(i->state, "available") != 0)
		return err_set(e, "image %s is %s, not available", i->id, i->state);
	if (arch && i->arch && strcmp(arch, i->arch) != 0)
		return err_set(e, "image %s is for %s, the instance type is %s: take an image of that architecture", i->id,
			       i->arch, arch);
	if (!i->slurm_version && accept_untagged)
		return 0;
	if (!i->slurm_version)
		return err_set(e,
			       "image %s does not say which Slurm is in it: tag it (aws ec2 create-tags --resources %s --tags "
			       "Key=" TAG_SLURM_VERSION
			       ",Value=%s, with the version of its slurmd), or set AcceptUntaggedImage: true",
			       i->id, i->id, head_version);
	if (image_release_distance(head_version, i->slurm_version) == -99)
		return err_set(e, "image %s: its tag " TAG_SLURM_VERSION "=%s is no Slurm version such as %s", i->id,
			       i->slurm_version, head_version);
	if (!release_fits(head_version, i->slurm_version))
		return err_set(
			e, "image %s has Slurm %s, slurmctld is %s: slurmd may be of the same release or of the two before it",
			i->id, i->slurm_version, head_version);
	return 0;
}
