/* xml.h - write an EC2 answer: elements into a growing buffer, text escaped. Nothing is indented: clients count bytes. */
#ifndef EC2LOCAL_XML_H
#define EC2LOCAL_XML_H

#include "lib/base/buf.h"
#include "lib/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct json_object;
struct params;

void xml_open(struct buf *b, const char *name);
void xml_close(struct buf *b, const char *name);
/* <name>text</name>; NULL text writes nothing. */
void xml_text(struct buf *b, const char *name, const char *text);
void xml_int(struct buf *b, const char *name, int64_t val);
void xml_bool(struct buf *b, const char *name, bool val);
void xml_time(struct buf *b, const char *name, int64_t wall_ms);
/* <tagSet><item><key/><value/></item>…</tagSet>; nothing if there is none. */
void xml_tags(struct buf *b, const struct kvs *tags);
/* A JSON object's members as elements: first letter lower-cased, arrays as <x><item>…</item></x>. */
void xml_json(struct buf *b, struct json_object *o);
/* Parameters back as the answer's elements: first letter lower-cased, lists as <xSet><item>. */
void xml_params(struct buf *b, const struct params *p);

#endif
