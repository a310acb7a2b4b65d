/* extra.h - the record that binding writes into a node's `extra` in Slurm: which launch gave the node its machine.
 *
 * Text: {"slurm-ec2":"<launch id>"}. One update gives one text to many nodes, so nothing per machine stands in it. "" clears.
 */
#ifndef SE_NODE_EXTRA_H
#define SE_NODE_EXTRA_H

char *extra_format(const char *launch);      /* caller frees; NULL on no memory */
char *extra_launch(const char *extra);       /* the launch id or NULL (none, not ours, NULL); caller frees */

#endif
