BEGIN TRANSACTION;
CREATE TABLE bugs (
	id INTEGER NOT NULL, 
	target_id INTEGER NOT NULL, 
	bug TEXT NOT NULL, 
	at FLOAT NOT NULL, 
	after_inputs BIGINT NOT NULL, 
	after_seconds FLOAT NOT NULL, 
	crashes BIGINT NOT NULL, 
	kind TEXT NOT NULL, 
	severity TEXT NOT NULL, 
	frames JSON NOT NULL, 
	summary TEXT NOT NULL, 
	file TEXT NOT NULL, 
	line INTEGER, 
	inputs JSON NOT NULL, 
	report TEXT NOT NULL, 
	command TEXT NOT NULL, 
	flaky BOOLEAN NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (target_id, bug), 
	FOREIGN KEY(target_id) REFERENCES targets (id)
);
INSERT INTO "bugs" VALUES(1,1,'3b65de3abde763bd',1.02590856100050586974e+00,5119,0.345,10,'abort','abort','["LLVMFuzzerTestOneInput", "one_input"]','abort in LLVMFuzzerTestOneInput at bad.c:12','/home/user/campaigns/bad.c',12,'["targets/bad/crashes/3b65de3abde763bd/crash-2630d66543505cc8a44669e7bc3a98d53cf27a8c", "targets/bad/crashes/3b65de3abde763bd/crash-645e81b374a5e2063f6073bb9cbf1ddbc500fc9e", "targets/bad/crashes/3b65de3abde763bd/crash-60f22c768482baaf7b3eb276b57abf8893adc5e8", "targets/bad/crashes/3b65de3abde763bd/crash-d3404d3dd498532e3f78e15e619e253c327e9641", "targets/bad/crashes/3b65de3abde763bd/crash-a377916cf80752de0e162980295122e9541e1327"]','targets/bad/crashes/3b65de3abde763bd/report.txt','/home/user/campaigns/old-out/programs/bad /home/user/campaigns/old-out/targets/bad/crashes/3b65de3abde763bd/crash-2630d66543505cc8a44669e7bc3a98d53cf27a8c',0);
INSERT INTO "bugs" VALUES(2,3,'d39edc28fc40f5f7',3.52452086500034056371e+00,3,0.008,80,'SEGV','null dereference','["add_note", "read_record"]','SEGV (null dereference) in add_note at records.c:57','/home/user/campaigns/records.c',57,'["targets/records/crashes/d39edc28fc40f5f7/628adb8484d02ce9.rb", "targets/records/crashes/d39edc28fc40f5f7/648ba25d3176a258.rb", "targets/records/crashes/d39edc28fc40f5f7/89b859bae9d0fc55.rb", "targets/records/crashes/d39edc28fc40f5f7/59c3bfbb22b4d394.rb", "targets/records/crashes/d39edc28fc40f5f7/8394693eff24b9a9.rb"]','targets/records/crashes/d39edc28fc40f5f7/report.txt','/home/user/campaigns/old-out/programs/records /home/user/campaigns/old-out/targets/records/crashes/d39edc28fc40f5f7/628adb8484d02ce9.rb',0);
INSERT INTO "bugs" VALUES(3,3,'0ebab374c0b29dcb',3.52452086500034056371e+00,6,0.014,14,'SEGV','read','["copy_bytes", "read_street", "read_record"]','SEGV (read) in copy_bytes at records.c:100','/home/user/campaigns/records.c',100,'["targets/records/crashes/0ebab374c0b29dcb/ee6364903359e29d.rb", "targets/records/crashes/0ebab374c0b29dcb/cf59d358b8e5563f.rb", "targets/records/crashes/0ebab374c0b29dcb/1c0df39742cdf6d4.rb", "targets/records/crashes/0ebab374c0b29dcb/62d3434a545e82d3.rb", "targets/records/crashes/0ebab374c0b29dcb/1dd641f18f0882f1.rb"]','targets/records/crashes/0ebab374c0b29dcb/report.txt','/home/user/campaigns/old-out/programs/records /home/user/campaigns/old-out/targets/records/crashes/0ebab374c0b29dcb/ee6364903359e29d.rb',0);
INSERT INTO "bugs" VALUES(4,2,'3944167039d90a8a',3.7866734130002441816e+00,790,2.366,2,'timeout','resource','[]','timeout (resource) in LLVMFuzzerTestOneInput at hang.c:4','/home/user/campaigns/hang.c',4,'["targets/hang/crashes/066fa97e61d33f94/timeout-70b90b85b9ed58940f34338b0816c877153e67e6", "targets/hang/crashes/066fa97e61d33f94/timeout-879df983b091dfae0cdde012d8023c8a321533b8"]','targets/hang/crashes/066fa97e61d33f94/report.txt','/home/user/campaigns/old-out/programs/hang /home/user/campaigns/old-out/targets/hang/crashes/066fa97e61d33f94/timeout-70b90b85b9ed58940f34338b0816c877153e67e6',0);
INSERT INTO "bugs" VALUES(5,3,'81f32f103b87539e',8.7325146889998,47,0.038,22,'SEGV','read','["lookup", "read_record"]','SEGV (read) in lookup at records.c:71','/home/user/campaigns/records.c',71,'["targets/records/crashes/81f32f103b87539e/ff95f1b9265faaba.rb", "targets/records/crashes/81f32f103b87539e/e4b0bf02e44256ea.rb", "targets/records/crashes/81f32f103b87539e/5195044ae19ed78a.rb", "targets/records/crashes/81f32f103b87539e/fa2cd1a2762fe22d.rb", "targets/records/crashes/81f32f103b87539e/0786569e38526886.rb"]','targets/records/crashes/81f32f103b87539e/report.txt','/home/user/campaigns/old-out/programs/records /home/user/campaigns/old-out/targets/records/crashes/81f32f103b87539e/ff95f1b9265faaba.rb',0);
INSERT INTO "bugs" VALUES(6,3,'402716125ab34840',8.7325146889998,58,0.041,12,'SEGV','read','["show", "read_record"]','SEGV (read) in show at records.c:92','/home/user/campaigns/records.c',92,'["targets/records/crashes/402716125ab34840/17b6c6c11c58621f.rb", "targets/records/crashes/402716125ab34840/4b0e2f10f3cd1cd8.rb", "targets/records/crashes/402716125ab34840/084313686cfc659a.rb", "targets/records/crashes/402716125ab34840/5aae16c8e7ea2856.rb", "targets/records/crashes/402716125ab34840/08e6f00ab400ef2c.rb"]','targets/records/crashes/402716125ab34840/report.txt','/home/user/campaigns/old-out/programs/records /home/user/campaigns/old-out/targets/records/crashes/402716125ab34840/17b6c6c11c58621f.rb',0);
INSERT INTO "bugs" VALUES(7,3,'9e0ce8e717c5cba6',8.7325146889998,84,0.09,20,'SEGV','read','["copy_bytes", "read_comment", "read_record"]','SEGV (read) in copy_bytes at records.c:100','/home/user/campaigns/records.c',100,'["targets/records/crashes/9e0ce8e717c5cba6/8f1d1c6588cdc6ae.rb", "targets/records/crashes/9e0ce8e717c5cba6/d5b14bc7e41b85e7.rb", "targets/records/crashes/9e0ce8e717c5cba6/8a753fae443cf09a.rb", "targets/records/crashes/9e0ce8e717c5cba6/7f143e5b20c2e598.rb", "targets/records/crashes/9e0ce8e717c5cba6/67b89169d47f09d4.rb"]','targets/records/crashes/9e0ce8e717c5cba6/report.txt','/home/user/campaigns/old-out/programs/records /home/user/campaigns/old-out/targets/records/crashes/9e0ce8e717c5cba6/8f1d1c6588cdc6ae.rb',0);
INSERT INTO "bugs" VALUES(8,3,'9b097534a4cf9308',1.14216720160002296326e+01,105,0.144,19,'SEGV','write','["set_pixel", "read_record"]','SEGV (write) in set_pixel at records.c:66','/home/user/campaigns/records.c',66,'["targets/records/crashes/9b097534a4cf9308/a9c20345330d5cf1.rb", "targets/records/crashes/9b097534a4cf9308/511f09a06df33b6c.rb", "targets/records/crashes/9b097534a4cf9308/23657f7f96c89682.rb", "targets/records/crashes/9b097534a4cf9308/caf4b0dc2ee8a9f8.rb", "targets/records/crashes/9b097534a4cf9308/dab8244244972ffd.rb"]','targets/records/crashes/9b097534a4cf9308/report.txt','/home/user/campaigns/old-out/programs/records /home/user/campaigns/old-out/targets/records/crashes/9b097534a4cf9308/a9c20345330d5cf1.rb',0);
INSERT INTO "bugs" VALUES(9,3,'dd341fa8e42e9e43',1.14216720160002296326e+01,194,0.177,29,'heap-corruption','write','["read_record"]','heap-corruption (write) in read_record at records.c:131','/home/user/campaigns/records.c',131,'["targets/records/crashes/dd341fa8e42e9e43/086751bc93e53552.rb", "targets/records/crashes/dd341fa8e42e9e43/37548d80458444e2.rb", "targets/records/crashes/dd341fa8e42e9e43/a331a89bcd325083.rb", "targets/records/crashes/dd341fa8e42e9e43/a783e239cbfaa6dd.rb", "targets/records/crashes/dd341fa8e42e9e43/e997eb3331d97973.rb"]','targets/records/crashes/dd341fa8e42e9e43/report.txt','/home/user/campaigns/old-out/programs/records /home/user/campaigns/old-out/targets/records/crashes/dd341fa8e42e9e43/086751bc93e53552.rb',0);
INSERT INTO "bugs" VALUES(10,3,'81baf5d3a49f3fa5',1.14216720160002296326e+01,237,0.202,8,'stack-overflow','stack exhaustion','["follow"]','stack-overflow (stack exhaustion) in follow at records.c:76','/home/user/campaigns/records.c',76,'["targets/records/crashes/81baf5d3a49f3fa5/600cbe2c76a1f2ec.rb", "targets/records/crashes/81baf5d3a49f3fa5/0bcb04aaa7c105e6.rb", "targets/records/crashes/81baf5d3a49f3fa5/89bb0e0a3cd6fba4.rb", "targets/records/crashes/81baf5d3a49f3fa5/7cf1be5821bcdccc.rb", "targets/records/crashes/81baf5d3a49f3fa5/67cfdc8e657a51af.rb"]','targets/records/crashes/81baf5d3a49f3fa5/report.txt','/home/user/campaigns/old-out/programs/records /home/user/campaigns/old-out/targets/records/crashes/81baf5d3a49f3fa5/600cbe2c76a1f2ec.rb',0);
INSERT INTO "bugs" VALUES(11,3,'4c484e505a59b9da',1.14216720160002296326e+01,254,0.207,52,'abort','abort','["check_format", "read_record"]','abort in check_format at records.c:88','/home/user/campaigns/records.c',88,'["targets/records/crashes/4c484e505a59b9da/02c3c92aad2fb8cb.rb", "targets/records/crashes/4c484e505a59b9da/37a414b6538310fd.rb", "targets/records/crashes/4c484e505a59b9da/6392335d5fc446dc.rb", "targets/records/crashes/4c484e505a59b9da/e400f4648faf1741.rb", "targets/records/crashes/4c484e505a59b9da/3e96781f82ceaba8.rb"]','targets/records/crashes/4c484e505a59b9da/report.txt','/home/user/campaigns/old-out/programs/records /home/user/campaigns/old-out/targets/records/crashes/4c484e505a59b9da/02c3c92aad2fb8cb.rb',0);
INSERT INTO "bugs" VALUES(12,3,'37c4281d0854beaa',1.46246438429998306673e+01,31,0.033,7,'SEGV','jump','["tidy_name"]','SEGV (jump) in tidy_name at records.c:46','/home/user/campaigns/records.c',46,'["targets/records/crashes/37c4281d0854beaa/496969a275e79677.rb", "targets/records/crashes/37c4281d0854beaa/1a39291655cb3269.rb", "targets/records/crashes/37c4281d0854beaa/15493dca31e11d6d.rb", "targets/records/crashes/37c4281d0854beaa/4cf80afc0bb9fa34.rb", "targets/records/crashes/37c4281d0854beaa/e8015dddbec1182b.rb", "targets/records/crashes/37c4281d0854beaa/4d4698b05f1bb107.rb", "targets/records/crashes/37c4281d0854beaa/197db68ece296406.rb"]','targets/records/crashes/37c4281d0854beaa/report.txt','/home/user/campaigns/old-out/programs/records /home/user/campaigns/old-out/targets/records/crashes/37c4281d0854beaa/496969a275e79677.rb',0);
INSERT INTO "bugs" VALUES(13,3,'4b11b994928c8cc0',1.46246438429998306673e+01,355,2.463,9,'divide-by-zero','divide','["average", "read_record"]','divide-by-zero (divide) in average at records.c:84','/home/user/campaigns/records.c',84,'["targets/records/crashes/4b11b994928c8cc0/032e1e41e3c5258b.rb", "targets/records/crashes/4b11b994928c8cc0/7f1485359adfdbc0.rb", "targets/records/crashes/4b11b994928c8cc0/eb1174cce859fcce.rb", "targets/records/crashes/4b11b994928c8cc0/5142bb88d3ba9df6.rb", "targets/records/crashes/4b11b994928c8cc0/7b222b0d080cd026.rb"]','targets/records/crashes/4b11b994928c8cc0/report.txt','/home/user/campaigns/old-out/programs/records /home/user/campaigns/old-out/targets/records/crashes/4b11b994928c8cc0/032e1e41e3c5258b.rb',0);
CREATE TABLE epochs (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	target_id INTEGER NOT NULL, 
	began FLOAT NOT NULL, 
	ended FLOAT, 
	lost BOOLEAN NOT NULL, 
	reason TEXT NOT NULL, 
	belief FLOAT, 
	other_id INTEGER, 
	other_belief FLOAT, 
	inputs BIGINT, 
	seconds FLOAT, 
	discoveries BIGINT, 
	new_bugs INTEGER, 
	generation_id INTEGER, 
	total_inputs BIGINT, 
	total_seconds FLOAT, 
	total_species BIGINT, 
	total_discoveries BIGINT, 
	risk FLOAT, 
	risk_low FLOAT, 
	risk_high FLOAT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(run_id) REFERENCES runs (id), 
	FOREIGN KEY(target_id) REFERENCES targets (id), 
	FOREIGN KEY(other_id) REFERENCES targets (id), 
	FOREIGN KEY(generation_id) REFERENCES generations (id)
);
INSERT INTO "epochs" VALUES(1,1,1,9.17223500000545755028e-02,1.02590856100050586974e+00,0,'first turn',NULL,NULL,NULL,5286,5.99434195999492658302e-01,6,1,1,5286,5.99434195999492658302e-01,9,6,7.56715853197124531034e-04,6.61055855112887e-05,0.00273351784628224);
INSERT INTO "epochs" VALUES(2,1,2,1.11766674000136845279e-01,3.7866734130002441816e+00,0,'first turn',NULL,NULL,NULL,5030,2.61575796000033733434e+00,2,1,3,5030,2.61575796000033733434e+00,4,2,1.98925800676347729837e-04,0.0,5.95987955159693605367e-04);
INSERT INTO "epochs" VALUES(3,1,3,1.09161054200012586079e+00,3.52452086500034056371e+00,0,'first turn',NULL,NULL,NULL,307,2.35486179599956813035e+00,2,2,2,307,2.35486179599956813035e+00,2,2,3.3003300330033003701e-03,0.0,0.00990323570269469);
INSERT INTO "epochs" VALUES(4,1,1,3.60100668700033565983e+00,4.24169817100028,0,'expected most',8.00905295604399469766e+00,3,3.33371061913430299927e-01,3038,5.21576823999566840939e-01,0,0,1,8324,1.12101101999905949924e+00,9,6,2.15563699073076088475e-04,0.0,6.45841014881409769543e-04);
INSERT INTO "epochs" VALUES(5,1,2,3.82595223499993153382e+00,7.43389755499993,0,'expected most',1.05423554233815952585e+00,3,3.33371061913430299927e-01,3133,2.56759956999940186506e+00,1,0,3,8163,5.18335752999973919941e+00,5,3,2.44977951984321406717e-04,4.47401715153283192341e-06,1.36492978709919113126e-03);
INSERT INTO "epochs" VALUES(6,1,1,4.27407276699978,5.08418635900034132646e+00,0,'expected most',2.68827367625904045667e+00,3,3.33371061913430299927e-01,1262,6.94212298999445920344e-01,0,0,1,9586,1.81522331899850541958e+00,9,6,1.69462802914760202752e-04,0.0,5.07708379386073715977e-04);
INSERT INTO "epochs" VALUES(7,1,1,5.10150029899978108005e+00,6.32856169499973475467e+00,0,'expected most',1.95484510526165,3,3.33371061913430299927e-01,11493,1.16418454100039525656e+00,0,0,1,21079,2.97940785999890067614e+00,9,6,5.74910888812234081336e-05,0.0,1.72232882034606404886e-04);
INSERT INTO "epochs" VALUES(8,1,3,6.37970909300020139198e+00,8.7325146889998,0,'no other is free',3.33371061913430299927e-01,NULL,NULL,99,2.33498317900011898018e+00,3,3,2,406,4.68984497499968711053e+00,5,5,3.08641975308641958175e-03,0.0,9.26037256904688188541e-03);
INSERT INTO "epochs" VALUES(9,1,2,7.43840776799970626598e+00,2.01698069840003881827e+01,0,'no other is free',3.87792934278902212685e-01,NULL,NULL,0,1.00239967000561591703e-01,0,0,3,8163,5.28359749700030079111e+00,0,3,NULL,NULL,NULL);
INSERT INTO "epochs" VALUES(10,1,3,8.7758426279997365782e+00,1.14216720160002296326e+01,0,'no other is free',2.5498074942956222566e-01,NULL,NULL,621,2.62380078499882074538e+00,4,4,2,1027,7.31364575999850785592e+00,9,9,1.2903225806451612892e-03,0.0,3.86796227895824795695e-03);
INSERT INTO "epochs" VALUES(11,1,3,1.15066935719996763507e+01,1.46246438429998306673e+01,0,'no other is free',3.49382502152668195094e-01,NULL,NULL,1096,3.07362448599997151177e+00,2,2,2,2123,1.03872702459984793681e+01,11,11,5.64971751412429398254e-04,0.0,1.69298398983586118049e-03);
INSERT INTO "epochs" VALUES(12,1,3,14.6839952119999,1.77813902429998051957e+01,0,'no other is free',2.82388578190215455698e-01,NULL,NULL,876,3.07469237599980260711e+00,0,0,2,2999,1.34619626219982819743e+01,11,11,3.7792894935752079609e-04,0.0,1.13238872410326152362e-03);
INSERT INTO "epochs" VALUES(13,1,3,1.78160124949999953969e+01,2.01432584089998272251e+01,0,'no other is free',6.98845894491031849327e-01,NULL,NULL,951,2.21424465399923064978e+00,0,0,2,3950,1.56762072759975126245e+01,11,11,2.78009452321378934102e-04,0.0,8.32958119753257619777e-04);
CREATE TABLE events (
	id INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	kind TEXT NOT NULL, 
	target TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "events" VALUES(1,1.06989271699967503082e+00,'bug','bad','abort in LLVMFuzzerTestOneInput (abort), 3b65de3abde763bd');
INSERT INTO "events" VALUES(2,3.57973830100036138901e+00,'bug','records','SEGV in add_note (null dereference), d39edc28fc40f5f7');
INSERT INTO "events" VALUES(3,3.5834997090005344944e+00,'bug','records','SEGV in copy_bytes (read), 0ebab374c0b29dcb');
INSERT INTO "events" VALUES(4,3.80716498200035857735e+00,'bug','hang','timeout (resource), 3944167039d90a8a');
INSERT INTO "events" VALUES(5,6.36751576400001795263e+00,'retired','bad','The probability that the next input shows anything new is at most 0.00042, below the accepted risk 0.001, with 95% confidence after 21,079 inputs (estimate 5.7e-05, recent-rate).');
INSERT INTO "events" VALUES(6,8.7389867419997244724e+00,'bug','records','SEGV in lookup (read), 81f32f103b87539e');
INSERT INTO "events" VALUES(7,8.75165729099990130634e+00,'bug','records','SEGV in show (read), 402716125ab34840');
INSERT INTO "events" VALUES(8,8.75952235699969605775e+00,'bug','records','SEGV in copy_bytes (read), 9e0ce8e717c5cba6');
INSERT INTO "events" VALUES(9,1.14503683880002427031e+01,'bug','records','SEGV in set_pixel (write), 9b097534a4cf9308');
INSERT INTO "events" VALUES(10,1.14561967629997525359e+01,'bug','records','heap-corruption in read_record (write), dd341fa8e42e9e43');
INSERT INTO "events" VALUES(11,1.14716374549998363359e+01,'bug','records','stack-overflow in follow (stack exhaustion), 81baf5d3a49f3fa5');
INSERT INTO "events" VALUES(12,1.1487677207999695383e+01,'bug','records','abort in check_format (abort), 4c484e505a59b9da');
INSERT INTO "events" VALUES(13,1.14917837200000576562e+01,'warning','records','14 crashes were not examined: while this program is fuzzed their stacks are not known, and only 20 a turn can be looked at. Bugs were shown more often than they are counted, so that the risk is rather overrated.');
INSERT INTO "events" VALUES(14,1.46598338300000250455e+01,'bug','records','SEGV in tidy_name (jump), 37c4281d0854beaa');
INSERT INTO "events" VALUES(15,1.46715511499996864586e+01,'bug','records','divide-by-zero in average (divide), 4b11b994928c8cc0');
INSERT INTO "events" VALUES(16,2.02116680099998120563e+01,'stopped','','The time of 20 seconds is used.');
CREATE TABLE generations (
	id INTEGER NOT NULL, 
	target_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	inputs BIGINT NOT NULL, 
	seconds FLOAT NOT NULL, 
	discoveries BIGINT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (target_id, name), 
	FOREIGN KEY(target_id) REFERENCES targets (id)
);
INSERT INTO "generations" VALUES(1,1,'aeef94c04c4bffd7',21079,2.97940785999890067614e+00,6);
INSERT INTO "generations" VALUES(2,3,'ff518e2b6915d51a',3950,1.56762072759975126245e+01,11);
INSERT INTO "generations" VALUES(3,2,'366d2bcd227bb09e',8163,5.28359749700030079111e+00,3);
CREATE TABLE observations (
	target_id INTEGER NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (target_id), 
	FOREIGN KEY(target_id) REFERENCES targets (id)
);
INSERT INTO "observations" VALUES(1,X'87A16ECD5257A77365636F6E6473CB4007D5D3C9C12000B66C6173745F646973636F766572795F7365636F6E6473CB3FAA9FBE76C8B439A77370656369657309A1669400000000A16B00AB646973636F76657269657392A33C6932C40C01041C007F0154006F080800');
INSERT INTO "observations" VALUES(2,X'87A16ECD1FE3A77365636F6E6473CB4014BBC2138B4C00B66C6173745F646973636F766572795F7365636F6E6473CB40054189374BC6A8A77370656369657305A1669400000000A16B00AB646973636F76657269657392A33C6932C40602000300C017');
INSERT INTO "observations" VALUES(3,X'87A16ECD0F6EA77365636F6E6473CB402F5A37D70F7400B66C6173745F646973636F766572795F7365636F6E6473CB4003B4C7F3493858A7737065636965730BA1669400000000A16B00AB646973636F76657269657392A33C6931C40B030319100B1A15592B1165');
CREATE TABLE runs (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	budget FLOAT, 
	cores INTEGER NOT NULL, 
	scheduler TEXT NOT NULL, 
	epoch FLOAT NOT NULL, 
	confidence FLOAT NOT NULL, 
	pid INTEGER NOT NULL, 
	fuzzwise TEXT NOT NULL, 
	seconds FLOAT NOT NULL, 
	stop_reason TEXT, 
	stop_detail TEXT, 
	PRIMARY KEY (id)
);
INSERT INTO "runs" VALUES(1,'old',20.0,2,'risk-rate',1.0,0.95,4011,'0.1.0',2.02129487160000280714e+01,'time-budget','The time of 20 seconds is used.');
CREATE TABLE schema_version (
	version INTEGER NOT NULL, 
	fuzzwise TEXT NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "schema_version" VALUES(1,'0.1.0');
CREATE TABLE targets (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	present BOOLEAN NOT NULL, 
	engine TEXT NOT NULL, 
	finds_coverage BOOLEAN NOT NULL, 
	share TEXT NOT NULL, 
	accepted_risk FLOAT, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	running INTEGER NOT NULL, 
	in_flight BOOLEAN NOT NULL, 
	epochs INTEGER NOT NULL, 
	inputs BIGINT NOT NULL, 
	seconds FLOAT NOT NULL, 
	generation TEXT NOT NULL, 
	species BIGINT NOT NULL, 
	corpus BIGINT NOT NULL, 
	crashes BIGINT NOT NULL, 
	risk JSON, 
	trend TEXT NOT NULL, 
	seconds_left JSON, 
	warnings JSON NOT NULL, 
	new_bugs INTEGER NOT NULL, 
	looked BIGINT NOT NULL, 
	looked_high FLOAT, 
	signature TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "targets" VALUES(1,'bad',0,1,'libfuzzer',1,'medium',0.001,'retired','accepted-risk','The probability that the next input shows anything new is at most 0.00042, below the accepted risk 0.001, with 95% confidence after 21,079 inputs (estimate 5.7e-05, recent-rate).',0,0,4,21079,2.97940785999890067614e+00,'aeef94c04c4bffd7',9,8,10,'{"value": 5.749108888122341e-05, "low": 0.0, "high": 0.0001722328820346064, "confidence": 0.95, "method": "recent-rate", "n": 21079, "note": "no discovery in the last 17392 inputs"}','falling','{"value": 0.0, "low": 0.0, "high": 0.0, "confidence": 0.95, "method": "power-law", "n": 21079, "note": ""}','[]',1,21079,4.18058770794815792726e-04,'e21b4ffed891b85acc1f281d9f0fe8b5fca51405530a7137bc213e140ff6e3fc');
INSERT INTO "targets" VALUES(2,'hang',1,1,'libfuzzer',1,'medium',0.001,'waiting','','',0,0,3,8163,5.28359749700030079111e+00,'366d2bcd227bb09e',5,4,2,'{"value": 0.0002449779519843214, "low": 4.474017151532832e-06, "high": 0.0013649297870991911, "confidence": 0.95, "method": "recent-rate", "n": 8163, "note": ""}','level','{"value": 0.0, "low": 0.0, "high": 2.4668120960402957, "confidence": 0.95, "method": "power-law", "n": 8163, "note": ""}','[]',1,8163,2.47997807451154654231e-03,'');
INSERT INTO "targets" VALUES(3,'records',2,1,'black-box',0,'medium',0.001,'waiting','','',0,0,6,3950,1.56762072759975126245e+01,'ff518e2b6915d51a',11,1,407,'{"value": 0.00027800945232137893, "low": 0.0, "high": 0.0008329581197532576, "confidence": 0.95, "method": "recent-rate", "n": 3950, "note": "no discovery in the last 3595 inputs"}','falling','{"value": 0.0, "low": 0.0, "high": 0.0, "confidence": 0.95, "method": "power-law", "n": 3950, "note": ""}','["117 crashes were not examined: while this program is fuzzed their stacks are not known, and only 20 a turn can be looked at. Bugs were shown more often than they are counted, so that the risk is rather overrated."]',11,3950,1.87123783783871289188e-03,'');
CREATE INDEX bugs_by_hash ON bugs (bug);
CREATE INDEX epochs_under_way ON epochs (id) WHERE ended IS NULL AND lost IS 0;
CREATE INDEX epochs_by_inputs ON epochs (generation_id, total_inputs);
CREATE INDEX epochs_of_target ON epochs (target_id);
COMMIT;
