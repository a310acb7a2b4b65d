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
	char *market; /* "on-demand", "spot", "capacity-block", "reserved:ID"; NULL = on-demand and spot */
	int64_t left;
	char *code; /* error code when it is used up; NULL = InsufficientInstanceCapacity */
};

/* What spot instances of a type cost in a zone; patterns. */
struct spot_price {
	char *type;
	char *zone;
	double price;
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
	int64_t quota_vcpus;  /* of all markets together; -1 = none */
	int64_t quota[3];     /* vCPUs by enum market; -1 = none */
	struct spot_price *prices;
	size_t n_prices, cap_prices;
	int64_t fleet_empty;  /* that many CreateFleet answers have neither instances nor errors */
	int64_t fleet_errors; /* that many have fleet_code for each choice and no instances */
	char *fleet_code;
	bool fleet_replay_empty; /* a repeated CreateFleet has only its id */
	int64_t hide_launch;	 /* that many Describe answers lack the youngest launch */
};

/* The record of an action, made when needed; NULL on no memory. */
struct action_state *faults_action(struct faults *f, const char *name);
/* Set the first rule with exactly this type, zone and market, or append one. -1 on no memory. market and code may be NULL. */
int faults_set_capacity(struct faults *f, const char *type, const char *zone, const char *market, int64_t left,
			const char *code);
/* The rule that counts, or NULL = unlimited. Borrowed. reservation: id of the one the launch takes from, or NULL. A rule without
 * a market says nothing about reserved capacity. */
struct capacity *faults_capacity(struct faults *f, const char *type, const char *zone, const char *market,
				 const char *reservation);
int faults_set_spot_price(struct faults *f, const char *type, const char *zone, double price);
double faults_spot_price(const struct faults *f, const char *type, const char *zone); /* 0 = none set */
/* Take one call from the bucket; false = throttled. */
bool action_state_take(struct action_state *a, int64_t now_ms);
/* Forget every fault; the counts of calls stay. */
void faults_reset(struct faults *f);
void faults_free(struct faults *f);

#endif
