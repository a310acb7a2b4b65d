/* faults.h - the misbehaviour the control endpoint asked for: capacity, throttling, errors, delays, lost answers, late sight.
 */
#ifndef EC2LOCAL_FAULTS_H
#define EC2LOCAL_FAULTS_H

#include "ec2local/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUOTA_ROWS 18 /* of quotas.c's table */

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

/* A token bucket as EC2 has. size 0 = no limit. */
struct bucket {
	double size, refill_per_s, tokens;
	int64_t at_ms;
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
	struct bucket requests;
	struct bucket unpaged;	 /* of a describe that names neither a filter nor a page; size 0 = as the others */
	struct bucket instances; /* one token for each instance a call is about */
};

struct faults {
	struct capacity *capacity;
	size_t n_capacity, cap_capacity;
	struct action_state **actions;
	size_t n_actions, cap_actions;
	struct index by_name;
	bool ec2_rates;	      /* actions get EC2's buckets */
	bool ec2_by_default;  /* also after a reset */
	int64_t hide_ip;      /* that many answers come without private addresses */
	int64_t lost_answers; /* that many RunInstances happen and are not answered */
	int64_t unseen_ms;    /* eventual consistency: instances younger than that are not seen; each waits its own time */
	int64_t unseen_most_ms;
	int64_t address_delay_ms; /* the private addresses of younger ones are not told */
	int64_t skew_s;		  /* our clock, as clients see it, runs ahead by that */
	int64_t quota_vcpus;	  /* of all markets together; -1 = none */
	int64_t quota[3];	  /* vCPUs by enum market; -1 = none */
	int64_t quota_row[QUOTA_ROWS];
	struct spot_price *prices;
	size_t n_prices, cap_prices;
	int64_t fleet_empty;  /* that many CreateFleet answers have neither instances nor errors */
	int64_t fleet_errors; /* that many have fleet_code for each choice and no instances */
	char *fleet_code;
	bool fleet_replay_empty; /* a repeated CreateFleet has only its id */
	int64_t hide_launch;	 /* that many Describe answers lack the youngest launch */
	int64_t page_size;	 /* most instances in an answer of DescribeInstances and DescribeInstanceStatus; 0 = as asked */
	int64_t fail_page;	 /* the page of DescribeInstances that fails, so many times, in this way */
	int64_t fail_pages;
	int fail_page_status;
	char *fail_page_code; /* NULL = InternalError */
};

/* The record of an action, made when needed; NULL on no memory. */
struct action_state *faults_action(struct faults *f, const char *name);
/* Set the first rule with exactly this type, zone and market, or append one. -1 on no memory. market and code may be NULL. */
int faults_set_capacity(struct faults *f, const char *type, const char *zone, const char *market, int64_t left,
			const char *code);
/* The rule that counts, or NULL = unlimited. Borrowed. reservation: id of the one the launch takes from, or NULL. A rule
 * without a market says nothing about reserved capacity. */
struct capacity *faults_capacity(struct faults *f, const char *type, const char *zone, const char *market,
				 const char *reservation);
int faults_set_spot_price(struct faults *f, const char *type, const char *zone, double price);
double faults_spot_price(const struct faults *f, const char *type, const char *zone); /* 0 = none set */
/* Take so many tokens; false = there are not as many, and none is taken. */
bool bucket_take(struct bucket *b, double n, int64_t now_ms);
void bucket_set(struct bucket *b, double size, double refill_per_s);
/* The buckets EC2 documents, for every action. */
void faults_ec2_rates(struct faults *f);
/* Forget every fault; the counts of calls stay. */
void faults_reset(struct faults *f);
void faults_free(struct faults *f);

#endif
