/* faults.h - the misbehaviour the control endpoint asked for: capacity, throttling, errors, delays, lost answers, late sight.
 */
#ifndef EC2LOCAL_FAULTS_H
#define EC2LOCAL_FAULTS_H

#include "ec2local/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many more instances of a type a zone gives; patterns with * and ?. The first rule that fits counts. */
struct capacity {
	char *type;
	char *zone;
	int64_t left;
	char *code; /* error code when it is used up; NULL = InsufficientInstanceCapacity */
};

/* Per action. */
struct action_state {
	char *name;
	uint64_t calls;
	int64_t throttle; /* that many calls are answered RequestLimitExceeded */
	int64_t errors;	  /* that many calls fail with code */
	int status;
	char *code;
	char *message;
	int64_t delay_ms;
	/* A token bucket as EC2 has: 0 = none. */
	double bucket, refill_per_s, tokens;
	int64_t bucket_at_ms;
};

struct faults {
	struct capacity *capacity;
	size_t n_capacity, cap_capacity;
	struct action_state **actions;
	size_t n_actions, cap_actions;
	struct index by_name;
	int64_t hide_ip;      /* that many answers come without private addresses */
	int64_t lost_answers; /* that many RunInstances happen and are not answered */
	int64_t unseen_ms;    /* eventual consistency: instances younger than that are not seen */
	int64_t quota_vcpus;  /* -1 = none */
};

/* The record of an action, made when needed; NULL on no memory. */
struct action_state *faults_action(struct faults *f, const char *name);
/* Set the first rule with exactly this type and zone, or append one. -1 on no memory. code NULL = the usual one. */
int faults_set_capacity(struct faults *f, const char *type, const char *zone, int64_t left, const char *code);
/* The rule that counts, or NULL = unlimited. Borrowed. */
struct capacity *faults_capacity(struct faults *f, const char *type, const char *zone);
/* Take one call from the bucket; false = throttled. */
bool action_state_take(struct action_state *a, int64_t now_ms);
/* Forget every fault; the counts of calls stay. */
void faults_reset(struct faults *f);
void faults_free(struct faults *f);

#endif
