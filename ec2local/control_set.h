/* control_set.h - the keys of the control endpoint: what each sets, and what reading their values has in common. */
#ifndef EC2LOCAL_CONTROL_SET_H
#define EC2LOCAL_CONTROL_SET_H

#include <stdint.h>

struct cloud;
struct err;
struct json_object;

/* Set one thing. -1 with e = refused. */
typedef int control_setter(struct cloud *cloud, struct json_object *val, struct err *e);

struct control_key {
	const char *key;
	control_setter *set;
};

/* Keys of capacity, markets, reservations and fleets; ends with a NULL key. */
extern const struct control_key control_supply_keys[];
/* Keys of what happens to single instances. */
extern const struct control_key control_life_keys[];

/* A whole number, min or more. */
int control_whole(struct json_object *val, int64_t min, int64_t *out, struct err *e);
/* An object, or each of a list of them. */
int control_each(struct cloud *cloud, struct json_object *val, control_setter *one, struct err *e);
/* Replace an owned text; NULL clears it. */
int control_text(char **slot, const char *text, struct err *e);

#endif
