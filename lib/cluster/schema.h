/* schema.h - which keys there are: a table a section. reader.c reads, checks and stores by them; no key has its own code.
 *
 * Every key of ParallelCluster's cluster.yaml is here, acted on or not, and (settings.c) every key of settings.yaml.
 */
#ifndef SE_CLUSTER_SCHEMA_H
#define SE_CLUSTER_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

struct place;
struct rule;
struct section;

enum key_kind {
	KEY_TEXT,     /* one value; `choices` or `rule` may narrow it */
	KEY_INT,      /* min..max */
	KEY_FLOAT,    /* min..max */
	KEY_BOOL,
	KEY_DURATION, /* seconds or 90s, 2m, 1h; min..max */
	KEY_LIST,     /* list of values; `rule` for each; min..max entries */
	KEY_MAP,      /* one section */
	KEY_MAPS,     /* list of sections; min..max entries */
	KEY_FREE,     /* mapping of any keys to values */
	KEY_FREES,    /* list of such mappings */
	KEY_ANY,      /* known by name only, content not looked at */
};

/* Into which C type at `offset` a value goes. STORE_NONE: nowhere. */
enum key_store {
	STORE_NONE,
	STORE_TEXT,    /* char * */
	STORE_INT,     /* int */
	STORE_INT64,   /* int64_t */
	STORE_DOUBLE,  /* double */
	STORE_BOOL,    /* bool; of a KEY_TEXT with two choices: true for the second; of a list: true when given */
	STORE_TRI,     /* enum tri */
	STORE_CHOICE,  /* an enum, numbered like the choices */
	STORE_STRS,    /* struct strs, appended */
	STORE_KVS,     /* struct kvs, appended */
};

enum key_flags {
	KEY_REQUIRED = 1,
	KEY_LATER = 2,    /* known, but nothing here acts on it: one warning */
	KEY_REFUSED = 4,  /* known, and an error; `note` says why */
	KEY_UNIQUE = 8,   /* list entries (of sections: their first key's values) must differ */
	KEY_EMPTY_OK = 16,
};

struct key {
	const char *name;
	enum key_kind kind;
	enum key_store store;
	unsigned flags;
	size_t offset;                 /* of the value, or (KEY_MAP) of the section's own struct */
	size_t at;                     /* 1 + offset of a struct place, 0 = none */
	const char *choices;           /* "a|b|c" */
	const struct rule *rule;
	int64_t min, max;              /* max 0 = none */
	const struct section *section; /* KEY_MAP, KEY_MAPS */
	void *(*open)(void *base);     /* KEY_MAPS, KEY_FREES: make the entry's struct; NULL = the same struct */
	int (*close)(void *base, void *entry); /* after the entry; -1 = no memory */
	const char *(*pair_problem)(const char *key, const char *val, size_t pairs); /* KEY_FREE, KEY_FREES */
	const char *note;              /* added to the warning or error: the remedy */
	const char *def;               /* settings: default as YAML, NULL = none */
	const char *doc;               /* settings: one sentence */
};

struct section {
	const struct key *keys;
	size_t n;
	size_t at; /* 1 + offset of a struct place for the section's beginning, 0 = none */
};

extern const struct section schema_cluster;  /* base: struct cluster */
extern const struct section schema_settings; /* base: struct settings */

/* Section tables that several files share. */
extern const struct section schema_head_node, schema_login_nodes, schema_shared_storage, schema_monitoring, schema_iam;
extern const struct section schema_directory_service, schema_deployment, schema_dev_settings, schema_packages;
extern const struct section schema_custom_actions, schema_health_checks, schema_policies, schema_s3_access, schema_proxy;

#define SECTION(keys_) {.keys = (keys_), .n = sizeof(keys_) / sizeof((keys_)[0])}

#endif
