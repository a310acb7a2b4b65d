/* call.h - what the builders share: an ec2_call from its parts, and the table of actions. For lib/aws only. */
#ifndef SE_AWS_CALL_H
#define SE_AWS_CALL_H

#include "lib/aws/bucket.h"
#include "lib/aws/ec2.h"
#include "lib/aws/reply.h"
#include "lib/base/buf.h"

/* Takes the body out of the buffer, which is empty afterwards. NULL on no memory, also when the buffer had failed. */
struct ec2_call *call_create(const char *action, struct buf *body, const struct reply_reader *reader);
/* A further body of the same read: EC2 limits how many names one request may give. Takes the body out; on no memory the
 * call is destroyed and NULL returned. */
struct ec2_call *call_add_part(struct ec2_call *c, struct buf *body);

/* The request bucket of an action. */
enum bucket_kind call_bucket(const char *action);
/* The bucket that counts its instances, or BUCKET_KINDS. */
enum bucket_kind call_instance_bucket(const char *action);

#endif
