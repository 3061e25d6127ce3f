CREATE TABLE "crawl_notices" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "crawl_notices_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"job_id" text NOT NULL,
	"url" text,
	"text" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "crawl_notices_of_job" ON "crawl_notices" USING btree ("job_id","id");