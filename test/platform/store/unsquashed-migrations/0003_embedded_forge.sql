CREATE TABLE "forge_deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"sequence" bigserial NOT NULL,
	"project_id" text NOT NULL,
	"event" text NOT NULL,
	"body_json" text NOT NULL,
	"attempt_count" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"lease_token" text,
	"lease_until" timestamp (3) with time zone,
	"last_error" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"delivered_at" timestamp (3) with time zone,
	"failed_at" timestamp (3) with time zone,
	CONSTRAINT "forge_deliveries_sequence_unique" UNIQUE("sequence")
);
--> statement-breakpoint
CREATE TABLE "pull_request_reviewers" (
	"pull_request_id" text NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"requested_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "pull_request_reviewers_pull_request_id_kind_name_pk" PRIMARY KEY("pull_request_id","kind","name")
);
--> statement-breakpoint
CREATE TABLE "pull_request_reviews" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"pull_request_id" text NOT NULL,
	"reviewer" text NOT NULL,
	"verdict" text NOT NULL,
	"body" text NOT NULL,
	"commit_sha" text NOT NULL,
	"submitted_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "pull_requests" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text,
	"repository" text NOT NULL,
	"number" integer NOT NULL,
	"author" text NOT NULL,
	"title" text NOT NULL,
	"body" text NOT NULL,
	"head_branch" text NOT NULL,
	"head_sha" text NOT NULL,
	"base_branch" text NOT NULL,
	"base_sha" text NOT NULL,
	"state" text DEFAULT 'open' NOT NULL,
	"merge_commit_sha" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "pull_requests_number_within_repository" UNIQUE("repository","number"),
	CONSTRAINT "pull_requests_state_known" CHECK ("pull_requests"."state" in ('open', 'merged', 'closed')),
	CONSTRAINT "pull_requests_merged_by_a_commit" CHECK (("pull_requests"."state" = 'merged') = ("pull_requests"."merge_commit_sha" is not null))
);
--> statement-breakpoint
ALTER TABLE "forge_deliveries" ADD CONSTRAINT "forge_deliveries_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pull_request_reviewers" ADD CONSTRAINT "pull_request_reviewers_pull_request_id_pull_requests_id_fk" FOREIGN KEY ("pull_request_id") REFERENCES "public"."pull_requests"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pull_request_reviews" ADD CONSTRAINT "pull_request_reviews_pull_request_id_pull_requests_id_fk" FOREIGN KEY ("pull_request_id") REFERENCES "public"."pull_requests"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pull_requests" ADD CONSTRAINT "pull_requests_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "forge_deliveries_waiting" ON "forge_deliveries" USING btree ("next_attempt_at") WHERE "forge_deliveries"."delivered_at" is null and "forge_deliveries"."failed_at" is null;--> statement-breakpoint
CREATE INDEX "forge_deliveries_of_project" ON "forge_deliveries" USING btree ("project_id","sequence");--> statement-breakpoint
CREATE INDEX "pull_request_reviews_in_order" ON "pull_request_reviews" USING btree ("pull_request_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "pull_requests_one_open_per_branch" ON "pull_requests" USING btree ("repository","head_branch") WHERE "pull_requests"."state" = 'open';