CREATE TABLE "discarded_objects" (
	"key" text PRIMARY KEY NOT NULL,
	"discarded_at" timestamp (3) with time zone NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "discarded_objects_due" ON "discarded_objects" USING btree ("due_at");